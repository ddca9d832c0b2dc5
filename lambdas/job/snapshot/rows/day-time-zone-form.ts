// What days, times of day and time zones look like as text: without anchors, and alike for JavaScript, DuckDB and Trino.
// `[0-9]` and not `\d`, which matches digits of other scripts in some engines.

export const DAY_FORM = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
export const TIME_FORM = String.raw`([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?`;
export const ZONE_FORM = "(Z|[+-](0[0-9]|1[0-8])(:?[0-5][0-9])?)";

/** A text that is a day, and one that is an instant, with or without a zone: these forms, with anchors. */
export const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
export const INSTANT =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?(Z|[+-](0[0-9]|1[0-8])(:?[0-5][0-9])?)?$/;
