/** Texts that outlive a visit, by name. */
export interface KeptTexts {
  get(name: string): string | null;
  set(name: string, text: string): void;
  remove(name: string): void;
}

/**
 * Texts in a storage that may be blocked or full, which throws: what it does not take holds for this visit.
 *
 * @param storage - asked each time, for a browser that blocks it throws already when it is named
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
