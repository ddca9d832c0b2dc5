// How many cookies a session may have, and of what size.

/** RFC 6265 §6.1: what every client should accept from one domain. */
export const MAX_COOKIES = 50;
/** Names, values and attributes together. Servers that limit request headers accept no more anyway. */
export const MAX_COOKIE_CHARS = 16_384;
