// Lists as well-known services send them. One that is whole is never refused; one that was cut off is never taken for the
// whole without a word.

import { describe, expect, it } from "vitest";
import { entries, readServed, type ServedPage } from "./served-list.ts";

type Verdict = "whole" | "doubted" | "refused";
type Page = (list: readonly object[]) => object;

interface Row {
  readonly service: string;
  readonly verdict: Verdict;
  readonly page: Page;
  readonly headers?: Readonly<Record<string, string>>;
  readonly listPointer?: string;
}

const row = (
  service: string,
  verdict: Verdict,
  page: Page,
  listPointer?: string,
  headers: Readonly<Record<string, string>> = {},
): Row => ({ service, verdict, page, headers, ...(listPointer === undefined ? {} : { listPointer }) });

const withHeaders = (service: string, verdict: Verdict, headers: Readonly<Record<string, string>>): Row =>
  row(service, verdict, (list) => list, undefined, headers);

const beside = (service: string, verdict: Verdict, members: object): Row =>
  row(service, verdict, (data) => ({ data, ...members }));

/** Of 10 entries, which are all. */
const WHOLE: readonly Row[] = [
  row("a bare array", "doubted", (list) => list),
  beside("an envelope of the interface", "doubted", { meta: { version: "v1" } }),
  beside("Stripe", "whole", { object: "list", url: "/v1/events", has_more: false }),
  beside("Notion", "whole", { object: "list", next_cursor: null, has_more: false, type: "page" }),
  beside("Slack", "whole", { ok: true, response_metadata: { next_cursor: "" } }),
  beside("Airtable", "doubted", {}),
  beside("Django REST framework", "whole", { count: 10, next: null, previous: null }),
  beside("Spring Data", "whole", {
    pageable: { sort: { sorted: true }, offset: 0, pageNumber: 0, pageSize: 20, paged: true },
    ...{
      last: true,
      totalPages: 1,
      totalElements: 10,
      size: 20,
      number: 0,
      first: true,
      numberOfElements: 10,
    },
  }),
  beside("Spring HATEOAS", "whole", {
    _links: { self: { href: "/v1/events?page=0&size=20" } },
    page: { size: 20, totalElements: 10, totalPages: 1, number: 0 },
  }),
  beside("JSON:API", "whole", { links: { self: "/v1/events", next: null }, meta: { page: { total: 10 } } }),
  beside("JSON:API without next", "doubted", {
    links: { self: "/v1/events", prev: null },
    jsonapi: { version: "1.1" },
  }),
  beside("HAL", "doubted", {
    _links: { self: { href: "/v1/events" }, find: { href: "/v1/events{?id}", templated: true } },
  }),
  beside("Hydra", "whole", {
    "@context": "/contexts/Event",
    "@id": "/v1/events",
    "hydra:totalItems": 10,
    "hydra:view": { "@id": "/v1/events?page=1", "@type": "hydra:PartialCollectionView" },
  }),
  row(
    "OData",
    "doubted",
    (value) => ({ "@odata.context": "$metadata#Events", "@odata.count": 10, value }),
    "/value",
  ),
  row(
    "OData 3",
    "doubted",
    (value) => ({ "odata.metadata": "$metadata#Events", "odata.count": "10", value }),
    "/value",
  ),
  row(
    "Microsoft Dynamics",
    "whole",
    (value) => ({
      "@Microsoft.Dynamics.CRM.totalrecordcount": 10,
      "@Microsoft.Dynamics.CRM.morerecords": false,
      value,
    }),
    "/value",
  ),
  row(
    "Microsoft Graph",
    "doubted",
    (value) => ({ "@odata.context": "x", value, "@odata.deltaLink": "https://graph.test/delta?t=1" }),
    "/value",
  ),
  row(
    "Elasticsearch",
    "whole",
    (hits) => ({
      took: 58,
      timed_out: false,
      _shards: { total: 58, successful: 58, skipped: 0, failed: 0 },
      hits: { total: { value: 10, relation: "eq" }, max_score: 58, hits },
    }),
    "/hits/hits",
  ),
  row(
    "Elasticsearch, a lower bound",
    "doubted",
    (hits) => ({ hits: { total: { value: 10, relation: "gte" }, hits } }),
    "/hits/hits",
  ),
  row(
    "Solr",
    "whole",
    (docs) => ({
      responseHeader: { status: 0, QTime: 58, params: { rows: "100" } },
      response: { numFound: 10, start: 0, numFoundExact: true, docs },
    }),
    "/response/docs",
  ),
  row(
    "Kubernetes",
    "doubted",
    (items) => ({ kind: "EventList", metadata: { resourceVersion: "5812", continue: "" }, items }),
    "/items",
  ),
  row(
    "Zendesk",
    "whole",
    (events) => ({ events, count: 10, next_page: null, previous_page: null }),
    "/events",
  ),
  row(
    "Zendesk by cursor",
    "whole",
    (events) => ({
      events,
      meta: { has_more: false, after_cursor: "aB58==", before_cursor: "x" },
      links: { prev: null, next: null },
    }),
    "/events",
  ),
  row("HubSpot", "doubted", (results) => ({ results }), "/results"),
  row(
    "HubSpot, an older version",
    "whole",
    (results) => ({ results, hasMore: false, offset: 58, total: 10 }),
    "/results",
  ),
  row("Salesforce", "whole", (records) => ({ totalSize: 10, done: true, records }), "/records"),
  row(
    "Jira",
    "whole",
    (issues) => ({ expand: "names,schema", startAt: 0, maxResults: 50, total: 10, issues }),
    "/issues",
  ),
  row("Jira Cloud", "whole", (issues) => ({ isLast: true, issues }), "/issues"),
  row(
    "Confluence",
    "doubted",
    (results) => ({
      results,
      start: 0,
      limit: 25,
      size: 10,
      _links: { base: "https://wiki.test", context: "", self: "https://wiki.test/rest" },
    }),
    "/results",
  ),
  row(
    "Bitbucket Server",
    "whole",
    (values) => ({ size: 10, limit: 25, isLastPage: true, values, start: 0, nextPageStart: null }),
    "/values",
  ),
  row("Bitbucket Cloud", "doubted", (values) => ({ pagelen: 50, size: 10, page: 1, values }), "/values"),
  row(
    "Contentful",
    "whole",
    (items) => ({ sys: { type: "Array" }, total: 10, skip: 0, limit: 100, items }),
    "/items",
  ),
  withHeaders("GitHub", "doubted", {
    "X-RateLimit-Limit": "60",
    "X-RateLimit-Remaining": "58",
    "X-RateLimit-Used": "2",
    "X-RateLimit-Reset": "1795800000",
    "Last-Modified": "Wed, 25 Nov 2026 07:28:00 GMT",
    ETag: 'W/"58"',
  }),
  row(
    "GitHub's search",
    "whole",
    (items) => ({ total_count: 10, incomplete_results: false, items }),
    "/items",
  ),
  withHeaders("GitLab", "whole", {
    "X-Next-Page": "",
    "X-Page": "1",
    "X-Per-Page": "20",
    "X-Prev-Page": "",
    "X-Total": "10",
    "X-Total-Pages": "1",
  }),
  withHeaders("WordPress", "whole", { "X-WP-Total": "10", "X-WP-TotalPages": "1" }),
  withHeaders("PostgREST", "doubted", { "Content-Range": "0-9/*" }),
  withHeaders("PostgREST with a count", "whole", { "Content-Range": "0-9/10" }),
  withHeaders("Shopify", "doubted", { "X-Shopify-Shop-Api-Call-Limit": "39/40", "Retry-After": "2.0" }),
  withHeaders("Azure Cosmos DB", "doubted", {
    "x-ms-request-charge": "58",
    "x-ms-item-count": "10",
    "x-ms-resource-quota": "collections=5000",
  }),
  withHeaders("ASP.NET", "whole", {
    "X-Pagination": '{"TotalCount":10,"PageSize":20,"CurrentPage":1,"TotalPages":1,"HasNext":false}',
  }),
  withHeaders("Fastly and others in between", "doubted", {
    "X-Cache-Hits": "58",
    Age: "58",
    "X-Served-By": "cache-58",
    "RateLimit-Remaining": "58",
    "X-Total-Time": "58",
    Expires: "0",
  }),
  row(
    "Twilio",
    "whole",
    (events) => ({
      page: 0,
      page_size: 50,
      first_page_uri: "/v1/events?Page=0",
      next_page_uri: null,
      previous_page_uri: null,
      uri: "/v1/events?Page=0",
      events,
    }),
    "/events",
  ),
  row(
    "Mailchimp",
    "whole",
    (events) => ({
      events,
      total_items: 10,
      _links: [
        { rel: "self", href: "https://x.test/events" },
        { rel: "parent", href: "https://x.test/" },
      ],
    }),
    "/events",
  ),
  row(
    "GraphQL (Relay)",
    "whole",
    (nodes) => ({
      data: {
        events: { totalCount: 10, pageInfo: { hasNextPage: false, endCursor: "Y3Vyc29yOjU4" }, nodes },
      },
    }),
    "/data/events/nodes",
  ),
  row("AWS", "whole", (Items) => ({ Items, NextToken: null }), "/Items"),
  row(
    "AWS without a token",
    "doubted",
    (Events) => ({ Events, ResponseMetadata: { HTTPStatusCode: 200, RetryAttempts: 0 } }),
    "/Events",
  ),
  row("DynamoDB", "doubted", (Items) => ({ Items, Count: 10, ScannedCount: 58 }), "/Items"),
  row(
    "Google",
    "doubted",
    (items) => ({
      kind: "calendar#events",
      etag: '"58"',
      nextSyncToken: "CPDAlvWDx70CEPDAlvWDx70CGAU=",
      items,
    }),
    "/items",
  ),
  row(
    "YouTube",
    "whole",
    (items) => ({ kind: "x", pageInfo: { totalResults: 10, resultsPerPage: 50 }, items }),
    "/items",
  ),
  row("Gmail", "doubted", (messages) => ({ messages, resultSizeEstimate: 58 }), "/messages"),
  row(
    "SCIM",
    "whole",
    (Resources) => ({ schemas: ["urn:x"], totalResults: 10, itemsPerPage: 100, startIndex: 1, Resources }),
    "/Resources",
  ),
  row("Laravel", "whole", (data) => ({
    data,
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
  })),
  row("Laravel's paginator", "whole", (data) => ({
    current_page: 1,
    data,
    first_page_url: "/v1/events?page=1",
    from: 1,
    last_page: 1,
    next_page_url: null,
    per_page: 15,
    to: 10,
    total: 10,
  })),
  row(
    "Cloudflare",
    "whole",
    (result) => ({
      success: true,
      errors: [],
      messages: [],
      result,
      result_info: { page: 1, per_page: 20, count: 10, total_count: 10, total_pages: 1 },
    }),
    "/result",
  ),
  row("Intercom", "whole", (data) => ({
    type: "list",
    data,
    total_count: 10,
    pages: { type: "pages", page: 1, per_page: 50, total_pages: 1 },
  })),
  row("Asana", "whole", (data) => ({ data, next_page: null })),
  row(
    "Dropbox",
    "whole",
    (list) => ({
      entries: list,
      cursor: "ZtkX9_EHj3x7PMkVuFIhwKYXEpwpLwyxp9vMKomUhllil9q7eWiAu",
      has_more: false,
    }),
    "/entries",
  ),
  row("Facebook", "doubted", (data) => ({
    data,
    paging: { cursors: { before: "MAZDZD", after: "OQZDZD" } },
  })),
  row(
    "Reddit",
    "doubted",
    (children) => ({ kind: "Listing", data: { after: null, before: null, dist: 10, children } }),
    "/data/children",
  ),
  row("Twitter", "doubted", (data) => ({
    data,
    meta: { newest_id: "58", oldest_id: "1", result_count: 10 },
  })),
  row(
    "Algolia",
    "doubted",
    (hits) => ({ hits, nbHits: 10, page: 0, nbPages: 1, hitsPerPage: 20, processingTimeMS: 58 }),
    "/hits",
  ),
  row(
    "FHIR",
    "whole",
    (entry) => ({
      resourceType: "Bundle",
      total: 10,
      link: [{ relation: "self", url: "https://fhir.test/Event" }],
      entry,
    }),
    "/entry",
  ),
  row(
    "CKAN",
    "whole",
    (results) => ({
      success: true,
      help: "https://x.test/help",
      result: { count: 10, sort: "score desc", facets: {}, results, total: 10 },
    }),
    "/result/results",
  ),
  row("DataTables", "whole", (data) => ({ draw: 58, recordsTotal: 10, recordsFiltered: 10, data })),
  row("Okta", "doubted", (list) => list, undefined, {
    Link: '<https://service.test/v1/events>; rel="self"',
    "X-Rate-Limit-Limit": "600",
    "X-Rate-Limit-Remaining": "599",
  }),
  // What stands beside a list that is whole, and is about something else.
  beside("a next update", "doubted", {
    next_update: "10:00",
    next_poll_at: 1795800000,
    nextSync: "tomorrow",
  }),
  beside("a next instant", "doubted", { next: "2026-12-01T00:00:00Z" }),
  beside("a next instant in seconds", "doubted", { next: 1795800000 }),
  beside("a next event", "doubted", { next_event: "Product launch", last_event: "2026-11-01" }),
  beside("more to read", "doubted", {
    more_info: "https://docs.test/",
    has_more_details: true,
    more: { info: true },
  }),
  beside("figures", "doubted", {
    totals: { impressions: 58 },
    total_revenue: 58,
    totalMs: 58,
    total_2026: 58,
  }),
  beside("figures in an object", "doubted", {
    summary: { total: 58, count: 58 },
    stats: { pages: 58, has_more: true },
  }),
  beside("an account with a limit", "doubted", {
    account: { limit: 100, remaining: 90, unread_count: 58, next_invoice: "b" },
  }),
  beside("a quota", "doubted", { limits: { total: 58, remaining: 58 }, quota: { total: 58 } }),
  beside("a limit of requests", "doubted", { rate_limit: { limit: 60, remaining: 58, total: 60 } }),
  beside("what remains of something", "doubted", { remaining: 58, size: 58 }),
  beside("an echo of the request", "doubted", {
    page: 1,
    limit: 30,
    cursor: "b",
    after: "b",
    marker: "b",
    offset: 0,
  }),
  beside("a last sync", "doubted", {
    last_sync: "2026-11-01T00:00:00Z",
    last: "2026-11-01",
    last_page_view: 58,
  }),
  beside("a job that is not done", "doubted", {
    job: { done: false },
    export: { is_partial: true, last: false },
  }),
  beside("numbers of other arrays", "doubted", {
    info: { tags: ["a", "b"], count: 58, total: 58, has_more: true },
  }),
  beside("pages of another list", "doubted", {
    page: { items: [{ id: 1 }], total: 58, next: "b", pages: 6 },
  }),
  beside("views of pages", "doubted", {
    page_views: 58,
    pageviews: 58,
    views: { total: 58 },
    landing_pages: 58,
  }),
  beside("a text that was cut", "doubted", { text_truncated: true, description: { truncated: true } }),
  beside("data that are provisional", "doubted", { final: false, complete: false, is_estimate: true }),
  beside("discounts and accounts", "doubted", {
    discount: 58,
    accountNumber: 58,
    viewcount: 58,
    countdown: 58,
  }),
  beside("no number", "doubted", { total: null, total_pages: -1, count: "many", pages: [] }),
];

/** Of 10 entries, and there are 18. */
const CUT: readonly Row[] = [
  row("a bare array", "doubted", (list) => list),
  beside("an envelope of the interface", "doubted", { meta: { version: "v1" } }),
  beside("as many entries as a limit says", "doubted", { limit: 10 }),
  beside("Stripe", "refused", { object: "list", url: "/v1/events", has_more: true }),
  beside("Notion", "refused", { object: "list", next_cursor: "fe2cc560", has_more: true }),
  beside("Slack", "refused", { ok: true, response_metadata: { next_cursor: "dGVhbTpDMDYxRkE1UEI=" } }),
  beside("Airtable", "doubted", { offset: "itrXXXXXXXXXXXXXX/recXXXXXXXXXXXXXX" }),
  beside("Django REST framework", "refused", { count: 18, next: "cD0yMDA=", previous: null }),
  beside("Spring Data", "refused", {
    last: false,
    totalPages: 2,
    totalElements: 18,
    size: 10,
    number: 0,
    numberOfElements: 10,
  }),
  beside("Spring Data's slices", "refused", {
    last: false,
    size: 10,
    number: 0,
    numberOfElements: 10,
    first: true,
  }),
  beside("JSON:API", "refused", { meta: { page: { total: 18 } } }),
  beside("JSON:API by number", "refused", { meta: { "total-pages": 2, "current-page": 1 } }),
  beside("Hydra", "refused", { "hydra:totalItems": 18 }),
  row("OData", "refused", (value) => ({ "@odata.context": "x", "@odata.count": 18, value }), "/value"),
  row("OData 3", "refused", (value) => ({ "odata.metadata": "x", "odata.count": "18", value }), "/value"),
  row("OData by token", "refused", (value) => ({ value, "@odata.nextLink": "eyJwYWdl" }), "/value"),
  row(
    "Microsoft Dynamics",
    "refused",
    (value) => ({ "@Microsoft.Dynamics.CRM.morerecords": true, value }),
    "/value",
  ),
  row(
    "Elasticsearch",
    "refused",
    (hits) => ({ _shards: { total: 1 }, hits: { total: { value: 18, relation: "eq" }, hits } }),
    "/hits/hits",
  ),
  row("Elasticsearch 6", "refused", (hits) => ({ hits: { total: 18, hits } }), "/hits/hits"),
  row(
    "Elasticsearch, a lower bound",
    "refused",
    (hits) => ({ hits: { total: { value: 11, relation: "gte" }, hits } }),
    "/hits/hits",
  ),
  row(
    "Elasticsearch, a scroll",
    "doubted",
    (hits) => ({ _scroll_id: "DXF1ZXJ5QW5kRmV0Y2gBAAAA", hits: { hits } }),
    "/hits/hits",
  ),
  row("Solr", "refused", (docs) => ({ response: { numFound: 18, start: 0, docs } }), "/response/docs"),
  row(
    "Kubernetes",
    "refused",
    (items) => ({ metadata: { continue: "ENCODED_TOKEN", remainingItemCount: 8 }, items }),
    "/items",
  ),
  row(
    "Kubernetes with a selector",
    "doubted",
    (items) => ({ metadata: { continue: "ENCODED_TOKEN" }, items }),
    "/items",
  ),
  row("Zendesk", "refused", (events) => ({ events, count: 18, next_page: 2 }), "/events"),
  row(
    "Zendesk by cursor",
    "refused",
    (events) => ({ events, meta: { has_more: true, after_cursor: "aB58==" } }),
    "/events",
  ),
  row("HubSpot", "refused", (results) => ({ results, paging: { next: { after: "NTI1" } } }), "/results"),
  row(
    "HubSpot, an older version",
    "refused",
    (results) => ({ results, hasMore: true, offset: 10 }),
    "/results",
  ),
  row("Salesforce", "refused", (records) => ({ totalSize: 18, done: false, records }), "/records"),
  row("Jira", "refused", (issues) => ({ startAt: 0, maxResults: 10, total: 18, issues }), "/issues"),
  row("Jira Cloud", "refused", (issues) => ({ nextPageToken: "CAEaAggD", isLast: false, issues }), "/issues"),
  row("Confluence", "doubted", (results) => ({ results, start: 0, limit: 10, size: 10 }), "/results"),
  row(
    "Bitbucket Server",
    "refused",
    (values) => ({ size: 10, limit: 10, isLastPage: false, values, nextPageStart: 10 }),
    "/values",
  ),
  row("Bitbucket Cloud", "doubted", (values) => ({ pagelen: 10, size: 18, page: 1, values }), "/values"),
  row("Contentful", "refused", (items) => ({ total: 18, skip: 0, limit: 10, items }), "/items"),
  row(
    "GitHub's search",
    "refused",
    (items) => ({ total_count: 18, incomplete_results: false, items }),
    "/items",
  ),
  row(
    "GitHub's search that ran out of time",
    "refused",
    (items) => ({ incomplete_results: true, items }),
    "/items",
  ),
  withHeaders("GitLab", "refused", {
    "X-Next-Page": "2",
    "X-Page": "1",
    "X-Per-Page": "10",
    "X-Total": "18",
    "X-Total-Pages": "2",
  }),
  withHeaders("GitLab, many entries", "refused", { "X-Next-Page": "2", "X-Page": "1", "X-Per-Page": "10" }),
  withHeaders("WordPress", "refused", { "X-WP-Total": "18", "X-WP-TotalPages": "2" }),
  withHeaders("PostgREST", "refused", { "Content-Range": "0-9/18" }),
  withHeaders("pages in a header", "refused", { "X-Pages": "2" }),
  withHeaders("Azure Cosmos DB", "refused", { "x-ms-continuationtoken": "aB==", "x-ms-item-count": "10" }),
  withHeaders("a maker's continuation", "doubted", { "X-Acme-Continuation-Token": "aB==" }),
  withHeaders("ASP.NET", "refused", { "X-Pagination": '{"TotalCount":18,"PageSize":10}' }),
  withHeaders("ASP.NET, next", "refused", { "Pagination-Info": '{"hasNext":true}' }),
  withHeaders("Heroku", "doubted", { "Next-Range": "id ]0123..; max=10" }),
  withHeaders("pages of Rails", "refused", { "Total-Count": "18", "Page-Items": "10", "Total-Pages": "2" }),
  row("Twilio", "refused", (events) => ({ page: 0, num_pages: 2, page_size: 10, events }), "/events"),
  row("Mailchimp", "refused", (events) => ({ events, total_items: 18 }), "/events"),
  row(
    "GraphQL (Relay)",
    "refused",
    (nodes) => ({ data: { events: { pageInfo: { hasNextPage: true, endCursor: "Y3Vy" }, nodes } } }),
    "/data/events/nodes",
  ),
  row("AWS", "refused", (Items) => ({ Items, NextToken: "aB==" }), "/Items"),
  row(
    "AWS S3",
    "refused",
    (Contents) => ({ Contents, IsTruncated: true, NextContinuationToken: "aB==" }),
    "/Contents",
  ),
  row(
    "DynamoDB",
    "doubted",
    (Items) => ({ Items, Count: 10, LastEvaluatedKey: { id: { S: "b" } } }),
    "/Items",
  ),
  row("Google", "refused", (items) => ({ nextPageToken: "CiAKGjBpNDd2Nmp2", items }), "/items"),
  row("Gmail", "doubted", (messages) => ({ messages, resultSizeEstimate: 18 }), "/messages"),
  row(
    "SCIM",
    "refused",
    (Resources) => ({ totalResults: 18, itemsPerPage: 10, startIndex: 1, Resources }),
    "/Resources",
  ),
  row("Laravel", "refused", (data) => ({
    data,
    meta: { current_page: 1, last_page: 2, links: [{ url: null }], per_page: 10, total: 18 },
  })),
  row(
    "Cloudflare",
    "refused",
    (result) => ({
      success: true,
      errors: [],
      result,
      result_info: { page: 1, per_page: 10, count: 10, total_count: 18 },
    }),
    "/result",
  ),
  row("Intercom", "refused", (data) => ({
    data,
    pages: { type: "pages", next: { page: 2, starting_after: "WzE2" }, page: 1, per_page: 10 },
  })),
  row("Asana", "refused", (data) => ({ data, next_page: { offset: "eyJ0eXAi", path: null } })),
  row("Dropbox", "refused", (list) => ({ entries: list, cursor: "ZtkX9", has_more: true }), "/entries"),
  row("Facebook", "doubted", (data) => ({
    data,
    paging: { cursors: { before: "MAZDZD", after: "OQZDZD" } },
  })),
  row(
    "Reddit",
    "doubted",
    (children) => ({ data: { after: "t3_58", dist: 10, children } }),
    "/data/children",
  ),
  row("Twitter", "refused", (data) => ({
    data,
    meta: { result_count: 10, next_token: "7140dibdnow9c7btw3w29grvxfcgvpb9n9coehpk7xz5i" },
  })),
  row("Algolia", "doubted", (hits) => ({ hits, nbHits: 18, page: 0, nbPages: 2, hitsPerPage: 10 }), "/hits"),
  row("CKAN", "refused", (results) => ({ success: true, result: { count: 18, results } }), "/result/results"),
  row("DataTables", "refused", (data) => ({ draw: 1, recordsTotal: 18, recordsFiltered: 18, data })),
  beside("Square", "doubted", { cursor: "b" }),
  beside("a cursor in a box", "doubted", { pagination: { cursor: "b" } }),
  beside("an after in the data", "doubted", { meta: { after: "b" } }),
  beside("a count of another kind", "refused", { totalItemCount: 18 }),
  beside("a count in words run together", "refused", { totalcount: 18 }),
  beside("more, as a number", "refused", { has_more: 1 }),
  beside("words of another language", "doubted", { gesamt: 18, seiten: 2, weiter: "b" }),
  beside("a count of an unknown kind", "doubted", { grandTotal: 18, outOf: 18 }),
  beside("more that says less", "refused", { has_more: true, total: 10, next: null }),
];

const read = async ({ page, headers, listPointer }: Row) => {
  const served: ServedPage = { body: page(entries(1, 10)), headers: headers ?? {} };
  return readServed(() => served, { listPointer });
};

const verdictOf = ({ list, error }: Awaited<ReturnType<typeof read>>): Verdict => {
  if (error !== undefined) return "refused";
  return list?.doubt === undefined ? "whole" : "doubted";
};

const titled = (rows: readonly Row[]): readonly (readonly [string, Verdict, Row])[] =>
  rows.map((each) => [each.service, each.verdict, each]);

describe("a list that is whole", () => {
  it.each(titled(WHOLE))("as in %s is %s", async (_, verdict, each) => {
    const found = await read(each);

    expect(found.error).toBeUndefined();
    expect(verdictOf(found)).toBe(verdict);
  });
});

describe("a list that was cut off", () => {
  it.each(titled(CUT))("as in %s is %s", async (_, verdict, each) => {
    const found = await read(each);

    expect(verdictOf(found)).toBe(verdict);
    if (found.error) expect(found.error.code).toBe("LIST_INCOMPLETE");
  });

  it("is in the table more than 60 times, as one that is whole is", () => {
    expect(CUT.length).toBeGreaterThan(60);
    expect(WHOLE.length).toBeGreaterThan(60);
  });
});
