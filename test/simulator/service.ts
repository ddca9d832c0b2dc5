// The response of the simulated service to a request within its limits.

import { CANARY } from "./account.ts";
import { oneEvent } from "./detail-endpoint.ts";
import type { WrongResponse } from "./faults.ts";
import { listEvents } from "./list-endpoint.ts";
import { type LoginContext, login, unauthenticated } from "./login-endpoint.ts";
import type { ServiceRequest } from "./service-request.ts";
import type { Sessions } from "./sessions.ts";
import type { Settings } from "./settings.ts";
import { json, refusal, type SimulatedResponse } from "./simulated-response.ts";
import type { World } from "./world.ts";

export class Service {
  readonly #world: World;
  readonly #sessions: Sessions;

  constructor(world: World, sessions: Sessions) {
    this.#world = world;
    this.#sessions = sessions;
  }

  respond(request: ServiceRequest, body: string, settings: Settings, nowMs: number): SimulatedResponse {
    const context: LoginContext = { ...settings, sessions: this.#sessions, nowMs };
    if (request.endpoint === "login") return login(request.method, body, context);
    const refused = unauthenticated(request, context);
    if (refused !== undefined) return refused;
    if (request.method !== "GET") return refusal(405, "Use GET.", { allow: "GET" });
    if (request.endpoint === "list") return listEvents(request.query, this.#world, settings.list);
    if (request.uuid !== undefined) return oneEvent(request.uuid, this.#world, settings.detail);
    return refusal(404, "No such resource.");
  }

  wrongResponse(
    fault: WrongResponse,
    request: ServiceRequest,
    body: string,
    settings: Settings,
    nowMs: number,
  ): SimulatedResponse {
    switch (fault.kind) {
      case "status":
        return fault.body === undefined
          ? refusal(fault.status, "Something went wrong.", fault.headers)
          : json(fault.status, fault.body, fault.headers);
      case "html":
        return {
          status: 200,
          headers: { "content-type": "text/html; charset=utf-8" },
          body: `<!doctype html><title>Please wait</title><p>${CANARY.body}</p>`,
        };
      case "body":
        return json(200, fault.text);
      case "redirect":
        return refusal(fault.status ?? 302, "Moved.", { location: fault.location });
      case "wrong-uuid":
        return this.respond(
          { ...request, uuid: this.#world.otherThan(request.uuid ?? "").uuid },
          body,
          settings,
          nowMs,
        );
    }
  }
}
