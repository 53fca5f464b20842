import type { CorrelationDocument, RuleDocument } from '../document.ts';
import { shown } from '../fault.ts';

/** What a correlation can name. */
export type Named = RuleDocument | CorrelationDocument;

/** What others call it in state and inputs: its id, or else its name, or else its title. */
export function keyOf(document: Named): string {
  return document.id ?? document.name ?? document.title;
}

/** The field that it is from. */
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

  /** The document of that id or name, or the reason why it can't be said which. */
  find(name: string): Named | string {
    const [document, ...others] = this.#documents.get(name) ?? [];
    if (document === undefined) return `${shown(name)} is the id or name of no rule`;
    if (others.length > 0) return `${shown(name)} is the id or name of ${others.length + 1} rules`;
    return document;
  }
}
