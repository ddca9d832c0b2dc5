// When a session is over by its own word, and how often that is believed.

import { describe, expect, it } from "vitest";
import { SessionEnds } from "../../../../lambdas/job/service/auth/session-end.ts";
import { PatientClock } from "../../../simulator/manual-clock.ts";
import { type Connection, type ConnectionOptions, connect } from "../connection.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

const MINUTE = 60_000;

/** Which of the ends, in minutes, each of a session that lived for so long before, count. */
const counted = (endsAt: readonly number[], livedMinutes = 5) => {
  const ends = new SessionEnds();
  const counts = endsAt.map((minutes) => {
    const endsAtMs = minutes * MINUTE;
    const cookie = { name: "s", fromMs: endsAtMs - livedMinutes * MINUTE, endsAtMs };
    return ends.isOver([cookie], endsAtMs) && ends.isOver([cookie], endsAtMs + 1);
  });
  return { counts, ignored: [...ends.ignored] };
};

const [YES, NO] = [true, false];

describe("the end of a cookie of the login", () => {
  it.each([
    ["the first", [10], 5, [YES], false],
    ["one that lived for a minute", [10], 1, [YES], false],
    ["one that lived shorter", [10, 20, 30, 40], 0.99, [NO, NO, NO, NO], false],
    ["every half hour", [30, 60, 90, 120, 150], 30, [YES, YES, YES, YES, YES], false],
    ["every twenty minutes", [20, 40, 60, 80, 100], 20, [YES, YES, YES, YES, YES], false],
    ["a fourth time in an hour", [10, 20, 30, 69.9, 200], 5, [YES, YES, YES, NO, NO], true],
    ["again within a minute", [10, 10.9, 200], 5, [YES, NO, NO], true],
    ["again within a minute, whatever it lived", [10, 10.9], 0.1, [NO, NO], false],
    ["again after a minute", [10, 11], 1, [YES, YES], false],
  ] as const)("counts or not: %s", (_, endsAt, livedMinutes, counts, isIgnored) => {
    expect(counted(endsAt, livedMinutes)).toEqual({ counts, ignored: isIgnored ? ["s"] : [] });
  });

  it("again within a minute does not count, also if the new one lived shorter", () => {
    const ends = new SessionEnds();
    ends.isOver([{ name: "s", fromMs: 0, endsAtMs: 2 * MINUTE }], 2 * MINUTE);

    const isOver = ends.isOver([{ name: "s", fromMs: 2 * MINUTE, endsAtMs: 2 * MINUTE + 1 }], 3 * MINUTE);

    expect([isOver, ...ends.ignored]).toEqual([false, "s"]);
  });

  it("that has not come, or never comes, is none", () => {
    const ends = new SessionEnds();

    expect(ends.isOver([{ name: "s", fromMs: 0, endsAtMs: 2 * MINUTE }], 2 * MINUTE - 1)).toBe(false);
    expect(ends.isOver([{ name: "s", fromMs: 0, endsAtMs: Infinity }], 1e15)).toBe(false);
  });

  it("is counted by name: one that ends too often takes nothing from the others", () => {
    const ends = new SessionEnds();
    const at = (name: string, minutes: number) => ({ name, fromMs: 0, endsAtMs: minutes * MINUTE });
    for (const minutes of [2, 2.5]) ends.isOver([at("a", minutes)], minutes * MINUTE);

    expect(ends.isOver([at("a", 3), at("b", 3)], 3 * MINUTE)).toBe(true);
    expect([...ends.ignored]).toEqual(["a"]);
  });
});

interface Ending extends Connection {
  readonly clock: PatientClock;
  /** The name of each request and the cookie that it had. */
  readonly sent: readonly (readonly [name: string, cookie: string | undefined])[];
}

/**
 * A service whose cookies are what `setCookie` gives for a request, and which answers a stranger as anybody else.
 * @param setCookie of the nth login, or of the nth request for an event
 */
const serviceWith = async (
  setCookie: (name: string, nth: number, clock: PatientClock) => string | undefined,
  options: ConnectionOptions = {},
): Promise<Ending> => {
  const clock = new PatientClock(Date.UTC(2026, 10, 21, 6));
  const transport = scriptedTransport((name, nth) => {
    const value = setCookie(name, nth, clock);
    return value === undefined ? {} : { headers: { "set-cookie": value } };
  });
  const connection = await connect({ clock }, { transport, ...options });
  return { ...connection, clock, sent: transport.sent };
};

/** `login`, and `a s=1` with its cookie. */
const lines = (sent: Ending["sent"]): readonly string[] =>
  sent.map(([name, cookie]) => (cookie === undefined ? name : `${name} ${cookie}`));

const ofLogin = (attributes: string) => (name: string, nth: number) =>
  name === "login" ? `s=${nth}; ${attributes}` : undefined;

describe("a session whose cookie has ended", () => {
  it.each([
    ["Max-Age=1800", ofLogin("Max-Age=1800")],
    [
      "Expires",
      (name: string, nth: number, clock: PatientClock) =>
        name === "login"
          ? `s=${nth}; Expires=${new Date(clock.now() + 30 * MINUTE).toUTCString()}`
          : undefined,
    ],
  ])("is renewed before the next request (%s)", async (_, setCookie) => {
    await using given = await serviceWith(setCookie);
    const { service, clock, sent } = given;

    await service.detail("a");
    clock.advance(30 * MINUTE - 1);
    await service.detail("b");
    clock.advance(1);
    await service.detail("c");
    clock.advance(45 * MINUTE);
    await Promise.all([service.detail("d"), service.detail("e")]);

    expect(lines(sent)).toEqual(["login", "a s=1", "b s=1", "login", "c s=2", "login", "d s=3", "e s=3"]);
  });

  it("is not renewed where it was set again", async () => {
    await using given = await serviceWith((name, nth) => `s=${name}${nth}; Max-Age=120`);
    const { service, clock, sent } = given;

    for (const name of ["a", "b", "c", "d"]) {
      await service.detail(name);
      clock.advance(90_000);
    }

    expect(sent.map(([, cookie]) => cookie)).toEqual([undefined, "s=login1", "s=a1", "s=b1", "s=c1"]);
  });

  it("is renewed where an answer takes the cookie away, which may be that to a stranger", async () => {
    await using given = await serviceWith((name, nth) =>
      name === "login" ? `s=${nth}` : name === "b" && nth === 1 ? "s=; Max-Age=0" : undefined,
    );
    const { service, clock, sent } = given;

    await service.detail("a");
    clock.advance(MINUTE);
    await service.detail("b");
    await service.detail("c");

    expect(lines(sent)).toEqual(["login", "a s=1", "b s=1", "login", "b s=2", "c s=2"]);
  });

  it("is renewed once where each answer takes it away", async () => {
    await using given = await serviceWith((name, nth) => (name === "login" ? `s=${nth}` : "s=; Max-Age=0"));
    const { service, clock, sent } = given;

    await service.logIn();
    clock.advance(MINUTE);
    await service.detail("a");
    await service.detail("b");

    expect(sent.map(([name]) => name)).toEqual(["login", "a", "login", "a", "b"]);
  });

  it("is not renewed for a cookie that came later, or one that lives for seconds", async () => {
    await using given = await serviceWith((name, nth) =>
      name === "login" ? `s=${nth}; Max-Age=59` : `other=1; Max-Age=70`,
    );
    const { service, clock, sent } = given;

    await service.detail("a");
    clock.advance(5 * MINUTE);
    await service.detail("b");

    expect(sent.map(([name]) => name)).toEqual(["login", "a", "b"]);
  });

  it.each([-3, 3])(
    "ends by the time that has passed, where the wall clock is set by %i hours",
    async (hours) => {
      await using given = await serviceWith(ofLogin("Max-Age=600"));
      const { service, clock, sent } = given;

      await service.detail("a");
      clock.set(hours * 60 * MINUTE);
      clock.advance(10 * MINUTE);
      await service.detail("b");

      expect(sent.at(-1)).toEqual(["b", "s=2"]);
    },
  );

  it("ends where the wall clock is set past it, as after a sleep, however short the session has lived", async () => {
    await using given = await serviceWith(ofLogin("Max-Age=600"));
    const { service, clock, sent } = given;

    await service.detail("a");
    clock.set(3 * 60 * MINUTE);
    await service.detail("b");

    expect(lines(sent)).toEqual(["login", "a s=1", "login", "b s=2"]);
  });

  it("does not count what comes after its end: the request is sent again with the next", async () => {
    const clock = new PatientClock(Date.UTC(2026, 10, 21, 6));
    const transport = scriptedTransport((name, nth) => {
      if (name === "login") return { headers: { "set-cookie": `s=${nth}; Max-Age=60` } };
      if (name === "b" && nth === 1) clock.advance(20_000);
      return undefined;
    });
    await using connection = await connect({ clock }, { transport });

    await connection.service.detail("a");
    clock.advance(50_000);
    await connection.service.detail("b");

    expect(lines(transport.sent.slice(2))).toEqual(["b s=1", "login", "b s=2"]);
  });

  it("counts from when the login was sent: at the service it is not younger", async () => {
    const clock = new PatientClock(Date.UTC(2026, 10, 21, 6));
    const transport = scriptedTransport((name, nth) => {
      if (name !== "login") return undefined;
      clock.advance(10_000);
      return { headers: { "set-cookie": `s=${nth}; Max-Age=120` } };
    });
    await using connection = await connect({ clock }, { transport });

    await connection.service.detail("a");
    clock.advance(110_000);
    await connection.service.detail("b");

    expect(transport.sent.at(-1)).toEqual(["b", "s=2"]);
  });

  it("four times in an hour is no reason for a login any more, and the end of the run says so", async () => {
    await using given = await serviceWith(ofLogin("Max-Age=300"));
    const { service, clock, sent, log } = given;

    for (let n = 0; n < 8; n += 1) {
      await service.detail(`e${n}`);
      clock.advance(6 * MINUTE);
    }
    const before = log.text;
    await service.close();

    expect(sent.filter(([name]) => name === "login")).toHaveLength(4);
    expect(before).not.toContain("The service ended its cookie");
    expect(log.text).toContain(
      "The service ended its cookie s within a minute of a new login, or four times in",
    );
  });
});
