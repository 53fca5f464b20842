const suffix = /\/life-([0-9a-f]{8})$/;

/** The name of a log in one of its lives: `base` in the first, else `<base>/life-<life>`. */
export function originInLife(base: string, life: string | undefined): string {
  return life === undefined ? base : `${base.replace(suffix, '')}/life-${life}`;
}

/** The life of a log with this name; undefined in its first one. */
export function lifeInOrigin(origin: string): string | undefined {
  return suffix.exec(origin)?.[1];
}
