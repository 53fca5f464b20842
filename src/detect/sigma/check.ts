import type { Problem } from './document.ts';
import { shown } from './fault.ts';
import { expansionRoom, type Room } from './item.ts';
import { fieldName, type Path } from './problem.ts';
import { isObject, type JsonObject } from './record.ts';

/**
 * Validates parts of one document and collects the problems. Each method takes a value and its path, and returns
 * undefined if the value is missing or invalid. Only `required` reports a missing value as a problem.
 */
export class Check {
  readonly problems: Problem[] = [];
  readonly at: (path: Path) => number;
  /** The number of values that modifiers may still add to the text of the document. */
  readonly expansion: Room;

  constructor(at: (path: Path) => number, expansion: Room = expansionRoom()) {
    this.at = at;
    this.expansion = expansion;
  }

  problem(path: Path, reason: string): undefined {
    this.problems.push({ line: this.at(path), field: fieldName(path), reason });
  }

  required<T>(value: T | undefined, given: unknown, path: Path): T | undefined {
    if (given === undefined || given === null) return this.problem(path, 'is missing');
    return value;
  }

  mapping(value: unknown, path: Path): JsonObject | undefined {
    if (value === undefined || value === null) return undefined;
    return isObject(value) ? value : this.problem(path, `is ${typeName(value)}, not a mapping`);
  }

  text(value: unknown, path: Path, maxLength: number, minLength = 1): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') return this.problem(path, `is ${typeName(value)}, not a text`);
    const text = value.trim();
    if (text.length < minLength)
      return this.problem(path, minLength === 1 ? 'is empty' : `is shorter than ${minLength} characters`);
    return text.length <= maxLength ? text : this.problem(path, `is longer than ${maxLength} characters`);
  }

  oneOf<const T extends string>(value: unknown, path: Path, choices: readonly T[]): T | undefined {
    if (value === undefined || value === null) return undefined;
    const found = choices.find((choice) => choice === value);
    return found ?? this.problem(path, `is ${shown(value)}, not one of ${choices.join(', ')}`);
  }

  matching(value: unknown, path: Path, pattern: RegExp, wanted: string): string | undefined {
    const text = this.text(value, path, 256);
    if (text === undefined || pattern.test(text)) return text;
    return this.problem(path, `is ${shown(text)}, not ${wanted}`);
  }

  /** Reads a list of distinct texts; returns an empty list if the value is missing. */
  texts(value: unknown, path: Path, maxLength: number, minLength = 1): readonly string[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.problem(path, `is ${typeName(value)}, not a list`);
      return [];
    }
    const found = new Set<string>();
    value.forEach((item: unknown, index) => {
      const text = this.required(this.text(item, [...path, index], maxLength, minLength), item, [...path, index]);
      if (text === undefined) return;
      if (found.has(text)) this.problem([...path, index], 'is in the list twice');
      found.add(text);
    });
    return [...found];
  }
}

export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object'
    ? 'a mapping'
    : typeof value === 'string'
      ? 'a text'
      : `the ${typeof value} ${String(value)}`;
}
