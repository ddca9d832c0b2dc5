// Redacts the keys of a JSON document in messages.

/** A key may be data too (an e-mail address, a name): only what looks like a field's name is repeated. */
export function redactKey(key: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(key)) return "<uuid>";
  return /^[A-Za-z_$][\w$-]{0,39}$/.test(key) ? key : "<key>";
}
