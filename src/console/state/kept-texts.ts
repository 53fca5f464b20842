/** Texts stored by name for later visits. */
export interface KeptTexts {
  get(name: string): string | null;
  set(name: string, text: string): void;
  remove(name: string): void;
}

/**
 * Stores texts in browser storage. If the storage is blocked or full, texts are held in memory for this visit.
 *
 * @param storage - called for each access, because browsers that block storage throw when it is referenced
 */
export function keptTexts(storage: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): KeptTexts {
  const held = new Map<string, string | null>();
  const change = (name: string, text: string | null): void => {
    try {
      if (text === null) storage().removeItem(name);
      else storage().setItem(name, text);
      held.delete(name);
    } catch {
      held.set(name, text);
    }
  };
  return {
    get: (name) => {
      const own = held.get(name);
      if (own !== undefined) return own;
      try {
        return storage().getItem(name);
      } catch {
        return null;
      }
    },
    set: change,
    remove: (name) => change(name, null),
  };
}
