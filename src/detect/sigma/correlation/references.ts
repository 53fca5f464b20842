import type { CorrelationDocument, RuleDocument } from '../document.ts';
import { shown } from '../fault.ts';

/** A document that a correlation can name. */
export type Named = RuleDocument | CorrelationDocument;

/** Returns the document's key in state and inputs: its id, otherwise its name, otherwise its title. */
export function keyOf(document: Named): string {
  return document.id ?? document.name ?? document.title;
}

/** Returns the attribute from which `keyOf` takes the key. */
export function keyFieldOf({ id, name }: Named): 'id' | 'name' | 'title' {
  return id !== undefined ? 'id' : name !== undefined ? 'name' : 'title';
}

/** Finds documents by id or name. */
export class References {
  readonly #documents = new Map<string, Set<Named>>();

  constructor(documents: readonly Named[]) {
    for (const document of documents) {
      for (const name of [document.id, document.name]) {
        if (name === undefined) continue;
        const named = this.#documents.get(name);
        if (named === undefined) this.#documents.set(name, new Set([document]));
        else named.add(document);
      }
    }
  }

  /** Returns the document with that id or name, or the reason why the name is unknown or not unique. */
  find(name: string): Named | string {
    const [document, ...others] = this.#documents.get(name) ?? [];
    if (document === undefined) return `names ${shown(name)}, which is not the id or name of a rule`;
    if (others.length > 0) return `${shown(name)} is not unique: ${others.length + 1} rules have this id or name`;
    return document;
  }
}
