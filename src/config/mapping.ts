/**
 * Returns whether the value is a plain object, unlike the values of YAML's other tags (`!!omap`, `!!binary`).
 */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
