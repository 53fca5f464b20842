/** A resource that counts its changes. */
interface Versioned {
  readonly attributes: { readonly version: number };
}

/** Of two states of a resource the later one: an answer that comes late is not put over one that came early. */
export const newer = <T extends Versioned>(kept: T, came: T): T =>
  came.attributes.version >= kept.attributes.version ? came : kept;
