/** Reads the imports of the sources for the architecture tests. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const root = new URL('../..', import.meta.url).pathname;

export interface Import {
  readonly file: string;
  readonly from: string;
  readonly typesOnly: boolean;
  /** `import('…')`: loaded only when executed. */
  readonly dynamic: boolean;
}

const statement =
  /^\s*(?:import|export)\s+(?:(type)\s+)?(?:([^'";]*?)\s+from\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

export function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...text.matchAll(statement)].map(([, type, names = '', from, dynamic]) => ({
    file,
    from: (from ?? dynamic)!,
    typesOnly: type !== undefined || /^\{(\s*type\s[^,}]+,?)+\s*\}$/.test(names.trim()),
    dynamic: dynamic !== undefined,
  }));
}

/** Every source of the product, relative to the project's root. */
export const files = globSync(['src/**/*.{ts,tsx}', 'workers/**/*.ts'], { cwd: root }).toSorted();

/** Returns the file under the project's root that a relative import names; undefined for packages. */
export function target({ file, from }: Pick<Import, 'file' | 'from'>): string | undefined {
  return from.startsWith('.') ? normalize(join(dirname(file), from)) : undefined;
}
