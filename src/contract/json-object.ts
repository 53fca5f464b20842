/**
 * A parsed JSON object. Names are only looked up, and never copied to other objects, so `__proto__` is an
 * ordinary name.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
