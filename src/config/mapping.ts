/** A plain object; what YAML makes of its other tags (`!!omap`, `!!binary`) is none. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
