/** A resource with a version number. */
interface Versioned {
  readonly attributes: { readonly version: number };
}

/**
 * Returns the later of two versions of a resource, so that a response that arrives late does not replace a newer
 * version.
 */
export const newer = <T extends Versioned>(kept: T, came: T): T =>
  came.attributes.version >= kept.attributes.version ? came : kept;
