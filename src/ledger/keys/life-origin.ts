const suffix = /\/life-([0-9a-f]{8})$/;

/** Returns the name of a log in a life: `base` in the first life, otherwise `<base>/life-<life>`. */
export function originInLife(base: string, life: string | undefined): string {
  return life === undefined ? base : `${base.replace(suffix, '')}/life-${life}`;
}

/** Returns the life of a log with this name; undefined for the first life. */
export function lifeInOrigin(origin: string): string | undefined {
  return suffix.exec(origin)?.[1];
}
