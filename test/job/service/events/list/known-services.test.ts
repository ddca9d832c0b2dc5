// Lists as well-known services send them. One that is whole is never refused; one that was cut off is never taken for the
// whole without a word.

import { describe, expect, it } from "vitest";
import { formatPointer } from "../../../../../lambdas/job/json/json-pointers.ts";
import { entries, readServed } from "./served-list.ts";

type Row = readonly [service: string, page: object, headers?: Readonly<Record<string, string>>];
/** By what is made of them. */
type Rows = Readonly<Record<"whole" | "doubted" | "refused", readonly Row[]>>;

const LIST = entries(1, 10);

/** Of 10 entries, which are all. */
const WHOLE: Rows = {
  whole: [
    ["Stripe", { data: LIST, object: "list", url: "/v1/events", has_more: false }],
    ["Notion", { data: LIST, object: "list", next_cursor: null, has_more: false, type: "page" }],
    ["Slack", { data: LIST, ok: true, response_metadata: { next_cursor: "" } }],
    ["Django REST framework", { data: LIST, count: 10, next: null, previous: null }],
    [
      "Spring Data",
      {
        data: LIST,
        pageable: { sort: { sorted: true }, offset: 0, pageNumber: 0, pageSize: 20, paged: true },
        last: true,
        totalPages: 1,
        totalElements: 10,
        size: 20,
        number: 0,
        first: true,
        numberOfElements: 10,
      },
    ],
    [
      "Spring HATEOAS",
      {
        data: LIST,
        _links: { self: { href: "/v1/events?page=0&size=20" } },
        page: { size: 20, totalElements: 10, totalPages: 1, number: 0 },
      },
    ],
    ["JSON:API", { data: LIST, links: { self: "/v1/events", next: null }, meta: { page: { total: 10 } } }],
    [
      "Hydra",
      {
        data: LIST,
        "@context": "/contexts/Event",
        "@id": "/v1/events",
        "hydra:totalItems": 10,
        "hydra:view": { "@id": "/v1/events?page=1", "@type": "hydra:PartialCollectionView" },
      },
    ],
    [
      "Microsoft Dynamics",
      {
        "@Microsoft.Dynamics.CRM.totalrecordcount": 10,
        "@Microsoft.Dynamics.CRM.morerecords": false,
        value: LIST,
      },
    ],
    [
      "Elasticsearch",
      {
        took: 58,
        timed_out: false,
        _shards: { total: 58, successful: 58, skipped: 0, failed: 0 },
        hits: { total: { value: 10, relation: "eq" }, max_score: 58, hits: LIST },
      },
    ],
    [
      "Solr",
      {
        responseHeader: { status: 0, QTime: 58, params: { rows: "100" } },
        response: { numFound: 10, start: 0, numFoundExact: true, docs: LIST },
      },
    ],
    ["Zendesk", { events: LIST, count: 10, next_page: null, previous_page: null }],
    [
      "Zendesk by cursor",
      {
        events: LIST,
        meta: { has_more: false, after_cursor: "aB58==", before_cursor: "x" },
        links: { prev: null, next: null },
      },
    ],
    ["HubSpot, an older version", { results: LIST, hasMore: false, offset: 58, total: 10 }],
    ["Salesforce", { totalSize: 10, done: true, records: LIST }],
    ["Jira", { expand: "names,schema", startAt: 0, maxResults: 50, total: 10, issues: LIST }],
    ["Jira Cloud", { isLast: true, issues: LIST }],
    [
      "Bitbucket Server",
      { size: 10, limit: 25, isLastPage: true, values: LIST, start: 0, nextPageStart: null },
    ],
    ["Contentful", { sys: { type: "Array" }, total: 10, skip: 0, limit: 100, items: LIST }],
    ["GitHub's search", { total_count: 10, incomplete_results: false, items: LIST }],
    [
      "GitLab",
      LIST,
      {
        "X-Next-Page": "",
        "X-Page": "1",
        "X-Per-Page": "20",
        "X-Prev-Page": "",
        "X-Total": "10",
        "X-Total-Pages": "1",
      },
    ],
    ["WordPress", LIST, { "X-WP-Total": "10", "X-WP-TotalPages": "1" }],
    ["PostgREST with a count", LIST, { "Content-Range": "0-9/10" }],
    [
      "ASP.NET",
      LIST,
      { "X-Pagination": '{"TotalCount":10,"PageSize":20,"CurrentPage":1,"TotalPages":1,"HasNext":false}' },
    ],
    [
      "Twilio",
      {
        page: 0,
        page_size: 50,
        first_page_uri: "/v1/events?Page=0",
        next_page_uri: null,
        previous_page_uri: null,
        uri: "/v1/events?Page=0",
        events: LIST,
      },
    ],
    [
      "Mailchimp",
      {
        events: LIST,
        total_items: 10,
        _links: [
          { rel: "self", href: "https://x.test/events" },
          { rel: "parent", href: "https://x.test/" },
        ],
      },
    ],
    [
      "GraphQL (Relay)",
      {
        data: {
          events: {
            totalCount: 10,
            pageInfo: { hasNextPage: false, endCursor: "Y3Vyc29yOjU4" },
            nodes: LIST,
          },
        },
      },
    ],
    ["AWS", { Items: LIST, NextToken: null }],
    ["YouTube", { kind: "x", pageInfo: { totalResults: 10, resultsPerPage: 50 }, items: LIST }],
    ["SCIM", { schemas: ["urn:x"], totalResults: 10, itemsPerPage: 100, startIndex: 1, Resources: LIST }],
    [
      "Laravel",
      {
        data: LIST,
        links: { first: "/v1/events?page=1", last: "/v1/events?page=1", prev: null, next: null },
        meta: {
          current_page: 1,
          from: 1,
          last_page: 1,
          links: [{ url: null, label: "&laquo; Previous", active: false }],
          path: "/v1/events",
          per_page: 15,
          to: 10,
          total: 10,
        },
      },
    ],
    [
      "Laravel's paginator",
      {
        current_page: 1,
        data: LIST,
        first_page_url: "/v1/events?page=1",
        from: 1,
        last_page: 1,
        next_page_url: null,
        per_page: 15,
        to: 10,
        total: 10,
      },
    ],
    [
      "Cloudflare",
      {
        success: true,
        errors: [],
        messages: [],
        result: LIST,
        result_info: { page: 1, per_page: 20, count: 10, total_count: 10, total_pages: 1 },
      },
    ],
    [
      "Intercom",
      {
        type: "list",
        data: LIST,
        total_count: 10,
        pages: { type: "pages", page: 1, per_page: 50, total_pages: 1 },
      },
    ],
    ["Asana", { data: LIST, next_page: null }],
    [
      "Dropbox",
      { entries: LIST, cursor: "ZtkX9_EHj3x7PMkVuFIhwKYXEpwpLwyxp9vMKomUhllil9q7eWiAu", has_more: false },
    ],
    [
      "FHIR",
      {
        resourceType: "Bundle",
        total: 10,
        link: [{ relation: "self", url: "https://fhir.test/Event" }],
        entry: LIST,
      },
    ],
    [
      "CKAN",
      {
        success: true,
        help: "https://x.test/help",
        result: { count: 10, sort: "score desc", facets: {}, results: LIST, total: 10 },
      },
    ],
    ["DataTables", { draw: 58, recordsTotal: 10, recordsFiltered: 10, data: LIST }],
  ],
  doubted: [
    ["a bare array", LIST],
    ["an envelope of the interface", { data: LIST, meta: { version: "v1" } }],
    ["Airtable", { data: LIST }],
    [
      "JSON:API without next",
      { data: LIST, links: { self: "/v1/events", prev: null }, jsonapi: { version: "1.1" } },
    ],
    [
      "HAL",
      {
        data: LIST,
        _links: { self: { href: "/v1/events" }, find: { href: "/v1/events{?id}", templated: true } },
      },
    ],
    ["OData", { "@odata.context": "$metadata#Events", "@odata.count": 10, value: LIST }],
    ["OData 3", { "odata.metadata": "$metadata#Events", "odata.count": "10", value: LIST }],
    [
      "Microsoft Graph",
      { "@odata.context": "x", value: LIST, "@odata.deltaLink": "https://graph.test/delta?t=1" },
    ],
    ["Elasticsearch, a lower bound", { hits: { total: { value: 10, relation: "gte" }, hits: LIST } }],
    ["Kubernetes", { kind: "EventList", metadata: { resourceVersion: "5812", continue: "" }, items: LIST }],
    ["HubSpot", { results: LIST }],
    [
      "Confluence",
      {
        results: LIST,
        start: 0,
        limit: 25,
        size: 10,
        _links: { base: "https://wiki.test", context: "", self: "https://wiki.test/rest" },
      },
    ],
    ["Bitbucket Cloud", { pagelen: 50, size: 10, page: 1, values: LIST }],
    [
      "GitHub",
      LIST,
      {
        "X-RateLimit-Limit": "60",
        "X-RateLimit-Remaining": "58",
        "X-RateLimit-Used": "2",
        "X-RateLimit-Reset": "1_795_800_000",
        "Last-Modified": "Wed, 25 Nov 2026 07:28:00 GMT",
        ETag: 'W/"58"',
      },
    ],
    ["PostgREST", LIST, { "Content-Range": "0-9/*" }],
    ["Shopify", LIST, { "X-Shopify-Shop-Api-Call-Limit": "39/40", "Retry-After": "2.0" }],
    [
      "Azure Cosmos DB",
      LIST,
      { "x-ms-request-charge": "58", "x-ms-item-count": "10", "x-ms-resource-quota": "collections=5000" },
    ],
    [
      "Fastly and others in between",
      LIST,
      {
        "X-Cache-Hits": "58",
        Age: "58",
        "X-Served-By": "cache-58",
        "RateLimit-Remaining": "58",
        "X-Total-Time": "58",
        Expires: "0",
      },
    ],
    ["AWS without a token", { Events: LIST, ResponseMetadata: { HTTPStatusCode: 200, RetryAttempts: 0 } }],
    ["DynamoDB", { Items: LIST, Count: 10, ScannedCount: 58 }],
    [
      "Google",
      { kind: "calendar#events", etag: '"58"', nextSyncToken: "CPDAlvWDx70CEPDAlvWDx70CGAU=", items: LIST },
    ],
    ["Gmail", { messages: LIST, resultSizeEstimate: 58 }],
    ["Facebook", { data: LIST, paging: { cursors: { before: "MAZDZD", after: "OQZDZD" } } }],
    ["Reddit", { kind: "Listing", data: { after: null, before: null, dist: 10, children: LIST } }],
    ["Twitter", { data: LIST, meta: { newest_id: "58", oldest_id: "1", result_count: 10 } }],
    ["Algolia", { hits: LIST, nbHits: 10, page: 0, nbPages: 1, hitsPerPage: 20, processingTimeMS: 58 }],
    [
      "Okta",
      LIST,
      {
        Link: '<https://service.test/v1/events>; rel="self"',
        "X-Rate-Limit-Limit": "600",
        "X-Rate-Limit-Remaining": "599",
      },
    ],
    // What stands beside a list that is whole, and is about something else.
    [
      "a next update",
      { data: LIST, next_update: "10:00", next_poll_at: 1_795_800_000, nextSync: "tomorrow" },
    ],
    ["a next instant", { data: LIST, next: "2026-12-01T00:00:00Z" }],
    ["a next instant in seconds", { data: LIST, next: 1_795_800_000 }],
    ["a next event", { data: LIST, next_event: "Product launch", last_event: "2026-11-01" }],
    [
      "more to read",
      { data: LIST, more_info: "https://docs.test/", has_more_details: true, more: { info: true } },
    ],
    ["figures", { data: LIST, totals: { impressions: 58 }, total_revenue: 58, totalMs: 58, total_2026: 58 }],
    [
      "figures in an object",
      { data: LIST, summary: { total: 58, count: 58 }, stats: { pages: 58, has_more: true } },
    ],
    [
      "an account with a limit",
      { data: LIST, account: { limit: 100, remaining: 90, unread_count: 58, next_invoice: "b" } },
    ],
    ["a quota", { data: LIST, limits: { total: 58, remaining: 58 }, quota: { total: 58 } }],
    ["a limit of requests", { data: LIST, rate_limit: { limit: 60, remaining: 58, total: 60 } }],
    ["what remains of something", { data: LIST, remaining: 58, size: 58 }],
    [
      "an echo of the request",
      { data: LIST, page: 1, limit: 30, cursor: "b", after: "b", marker: "b", offset: 0 },
    ],
    [
      "a last sync",
      { data: LIST, last_sync: "2026-11-01T00:00:00Z", last: "2026-11-01", last_page_view: 58 },
    ],
    [
      "a job that is not done",
      { data: LIST, job: { done: false }, export: { is_partial: true, last: false } },
    ],
    [
      "numbers of other arrays",
      { data: LIST, info: { tags: ["a", "b"], count: 58, total: 58, has_more: true } },
    ],
    ["pages of another list", { data: LIST, page: { items: [{ id: 1 }], total: 58, next: "b", pages: 6 } }],
    [
      "views of pages",
      { data: LIST, page_views: 58, pageviews: 58, views: { total: 58 }, landing_pages: 58 },
    ],
    ["a text that was cut", { data: LIST, text_truncated: true, description: { truncated: true } }],
    ["data that are provisional", { data: LIST, final: false, complete: false, is_estimate: true }],
    ["discounts and accounts", { data: LIST, discount: 58, accountNumber: 58, viewcount: 58, countdown: 58 }],
    ["no number", { data: LIST, total: null, total_pages: -1, count: "many", pages: [] }],
  ],
  refused: [],
};

/** Of 10 entries, and there are 18. */
const CUT: Rows = {
  whole: [],
  doubted: [
    ["a bare array", LIST],
    ["an envelope of the interface", { data: LIST, meta: { version: "v1" } }],
    ["as many entries as a limit says", { data: LIST, limit: 10 }],
    ["Airtable", { data: LIST, offset: "itrXXXXXXXXXXXXXX/recXXXXXXXXXXXXXX" }],
    ["Elasticsearch, a scroll", { _scroll_id: "DXF1ZXJ5QW5kRmV0Y2gBAAAA", hits: { hits: LIST } }],
    ["Kubernetes with a selector", { metadata: { continue: "ENCODED_TOKEN" }, items: LIST }],
    ["Confluence", { results: LIST, start: 0, limit: 10, size: 10 }],
    ["Bitbucket Cloud", { pagelen: 10, size: 18, page: 1, values: LIST }],
    ["a maker's continuation", LIST, { "X-Acme-Continuation-Token": "aB==" }],
    ["Heroku", LIST, { "Next-Range": "id ]0123..; max=10" }],
    ["DynamoDB", { Items: LIST, Count: 10, LastEvaluatedKey: { id: { S: "b" } } }],
    ["Gmail", { messages: LIST, resultSizeEstimate: 18 }],
    ["Facebook", { data: LIST, paging: { cursors: { before: "MAZDZD", after: "OQZDZD" } } }],
    ["Reddit", { data: { after: "t3_58", dist: 10, children: LIST } }],
    ["Algolia", { hits: LIST, nbHits: 18, page: 0, nbPages: 2, hitsPerPage: 10 }],
    ["Square", { data: LIST, cursor: "b" }],
    ["a cursor in a box", { data: LIST, pagination: { cursor: "b" } }],
    ["an after in the data", { data: LIST, meta: { after: "b" } }],
    ["words of another language", { data: LIST, gesamt: 18, seiten: 2, weiter: "b" }],
    ["a count of an unknown kind", { data: LIST, grandTotal: 18, outOf: 18 }],
  ],
  refused: [
    ["Stripe", { data: LIST, object: "list", url: "/v1/events", has_more: true }],
    ["Notion", { data: LIST, object: "list", next_cursor: "fe2cc560", has_more: true }],
    ["Slack", { data: LIST, ok: true, response_metadata: { next_cursor: "dGVhbTpDMDYxRkE1UEI=" } }],
    ["Django REST framework", { data: LIST, count: 18, next: "cD0yMDA=", previous: null }],
    [
      "Spring Data",
      {
        data: LIST,
        last: false,
        totalPages: 2,
        totalElements: 18,
        size: 10,
        number: 0,
        numberOfElements: 10,
      },
    ],
    [
      "Spring Data's slices",
      { data: LIST, last: false, size: 10, number: 0, numberOfElements: 10, first: true },
    ],
    ["JSON:API", { data: LIST, meta: { page: { total: 18 } } }],
    ["JSON:API by number", { data: LIST, meta: { "total-pages": 2, "current-page": 1 } }],
    ["Hydra", { data: LIST, "hydra:totalItems": 18 }],
    ["OData", { "@odata.context": "x", "@odata.count": 18, value: LIST }],
    ["OData 3", { "odata.metadata": "x", "odata.count": "18", value: LIST }],
    ["OData by token", { value: LIST, "@odata.nextLink": "eyJwYWdl" }],
    ["Microsoft Dynamics", { "@Microsoft.Dynamics.CRM.morerecords": true, value: LIST }],
    ["Elasticsearch", { _shards: { total: 1 }, hits: { total: { value: 18, relation: "eq" }, hits: LIST } }],
    ["Elasticsearch 6", { hits: { total: 18, hits: LIST } }],
    ["Elasticsearch, a lower bound", { hits: { total: { value: 11, relation: "gte" }, hits: LIST } }],
    ["Solr", { response: { numFound: 18, start: 0, docs: LIST } }],
    ["Kubernetes", { metadata: { continue: "ENCODED_TOKEN", remainingItemCount: 8 }, items: LIST }],
    ["Zendesk", { events: LIST, count: 18, next_page: 2 }],
    ["Zendesk by cursor", { events: LIST, meta: { has_more: true, after_cursor: "aB58==" } }],
    ["HubSpot", { results: LIST, paging: { next: { after: "NTI1" } } }],
    ["HubSpot, an older version", { results: LIST, hasMore: true, offset: 10 }],
    ["Salesforce", { totalSize: 18, done: false, records: LIST }],
    ["Jira", { startAt: 0, maxResults: 10, total: 18, issues: LIST }],
    ["Jira Cloud", { nextPageToken: "CAEaAggD", isLast: false, issues: LIST }],
    ["Bitbucket Server", { size: 10, limit: 10, isLastPage: false, values: LIST, nextPageStart: 10 }],
    ["Contentful", { total: 18, skip: 0, limit: 10, items: LIST }],
    ["GitHub's search", { total_count: 18, incomplete_results: false, items: LIST }],
    ["GitHub's search that ran out of time", { incomplete_results: true, items: LIST }],
    [
      "GitLab",
      LIST,
      { "X-Next-Page": "2", "X-Page": "1", "X-Per-Page": "10", "X-Total": "18", "X-Total-Pages": "2" },
    ],
    ["GitLab, many entries", LIST, { "X-Next-Page": "2", "X-Page": "1", "X-Per-Page": "10" }],
    ["WordPress", LIST, { "X-WP-Total": "18", "X-WP-TotalPages": "2" }],
    ["PostgREST", LIST, { "Content-Range": "0-9/18" }],
    ["pages in a header", LIST, { "X-Pages": "2" }],
    ["Azure Cosmos DB", LIST, { "x-ms-continuationtoken": "aB==", "x-ms-item-count": "10" }],
    ["ASP.NET", LIST, { "X-Pagination": '{"TotalCount":18,"PageSize":10}' }],
    ["ASP.NET, next", LIST, { "Pagination-Info": '{"hasNext":true}' }],
    ["pages of Rails", LIST, { "Total-Count": "18", "Page-Items": "10", "Total-Pages": "2" }],
    ["Twilio", { page: 0, num_pages: 2, page_size: 10, events: LIST }],
    ["Mailchimp", { events: LIST, total_items: 18 }],
    [
      "GraphQL (Relay)",
      { data: { events: { pageInfo: { hasNextPage: true, endCursor: "Y3Vy" }, nodes: LIST } } },
    ],
    ["AWS", { Items: LIST, NextToken: "aB==" }],
    ["AWS S3", { Contents: LIST, IsTruncated: true, NextContinuationToken: "aB==" }],
    ["Google", { nextPageToken: "CiAKGjBpNDd2Nmp2", items: LIST }],
    ["SCIM", { totalResults: 18, itemsPerPage: 10, startIndex: 1, Resources: LIST }],
    [
      "Laravel",
      {
        data: LIST,
        meta: { current_page: 1, last_page: 2, links: [{ url: null }], per_page: 10, total: 18 },
      },
    ],
    [
      "Cloudflare",
      {
        success: true,
        errors: [],
        result: LIST,
        result_info: { page: 1, per_page: 10, count: 10, total_count: 18 },
      },
    ],
    [
      "Intercom",
      {
        data: LIST,
        pages: { type: "pages", next: { page: 2, starting_after: "WzE2" }, page: 1, per_page: 10 },
      },
    ],
    ["Asana", { data: LIST, next_page: { offset: "eyJ0eXAi", path: null } }],
    ["Dropbox", { entries: LIST, cursor: "ZtkX9", has_more: true }],
    [
      "Twitter",
      { data: LIST, meta: { result_count: 10, next_token: "7140dibdnow9c7btw3w29grvxfcgvpb9n9coehpk7xz5i" } },
    ],
    ["CKAN", { success: true, result: { count: 18, results: LIST } }],
    ["DataTables", { draw: 1, recordsTotal: 18, recordsFiltered: 18, data: LIST }],
    ["a count of another kind", { data: LIST, totalItemCount: 18 }],
    ["a count in words run together", { data: LIST, totalcount: 18 }],
    ["more, as a number", { data: LIST, has_more: 1 }],
    ["more that says less", { data: LIST, has_more: true, total: 10, next: null }],
  ],
};

const verdictOf = async (page: object, headers = {}): Promise<keyof Rows> => {
  const path = pathTo(LIST, page) ?? [];
  const isUsual = path.length === 0 || path.join() === "data";
  const listPointer = isUsual ? undefined : formatPointer(path);
  const { list, error } = await readServed(() => ({ body: page, headers }), { listPointer });
  if (error) expect(error.code).toBe("LIST_INCOMPLETE");
  if (error) return "refused";
  return list?.doubt === undefined ? "whole" : "doubted";
};

const pathTo = (list: object, page: object): readonly string[] | undefined => {
  if (page === list) return [];
  for (const [key, value] of Object.entries(page)) {
    const path = typeof value === "object" && value !== null ? pathTo(list, value) : undefined;
    if (path) return [key, ...path];
  }
  return undefined;
};

const titled = (rows: Rows) =>
  Object.entries(rows).flatMap(([verdict, all]) =>
    all.map(([service, ...page]) => ({ service, verdict, page })),
  );

describe.each([
  ["is whole", WHOLE],
  ["was cut off", CUT],
])("a list that %s", (_, rows) => {
  it.each(titled(rows))("as in $service is $verdict", async ({ verdict, page }) => {
    expect(await verdictOf(...page)).toBe(verdict);
  });
});

it("a list that is whole is never refused, one that was cut off never whole, in more than 60 services", () => {
  expect([WHOLE.refused, CUT.whole]).toEqual([[], []]);
  expect(WHOLE.whole.length + WHOLE.doubted.length).toBeGreaterThan(60);
  expect(CUT.doubted.length + CUT.refused.length).toBeGreaterThan(60);
});
