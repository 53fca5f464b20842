import type { BigIntStats } from 'node:fs';
import { type Document, LineCounter, parseDocument, visit } from 'yaml';
import { type FileContent, readFile, readFileLater, UnreadableFile } from '../files/read-file.ts';
import { repeatedKey } from '../files/unique-keys.ts';
import { limits } from '../limits.ts';
import { ConfigError, show } from './config-error.ts';
import type { Given, GivenSettings } from './given.ts';
import { isMapping } from './readers.ts';
import { isSettingName, type SettingName, settingNames } from './settings.ts';

/** The location of the settings file. */
export interface ConfigFile {
  readonly path: string;
  /** Whether CANDOR_CONFIG names the file, which must then exist. Otherwise the file is in the data folder. */
  readonly named: boolean;
}

/** The content of a settings file. */
export interface ConfigText {
  /** Text of the file; empty if there is no file. */
  readonly text: string;
  /** Changes when the file is replaced or modified; undefined if there is no file. */
  readonly identity: string | undefined;
  /** Permission bits; 0 if there is no file. */
  readonly mode: number;
  readonly document: Document;
  readonly given: GivenSettings;
  /** The keys that lead to each setting in the document. */
  readonly paths: ReadonlyMap<SettingName, readonly string[]>;
}

/**
 * Reads and parses the file, without checking the values.
 *
 * @throws ConfigError if the file cannot be read, is too large, is neither YAML nor JSON or contains an
 * unknown setting
 */
export function readConfigFile(file: ConfigFile): ConfigText {
  try {
    return configOf(file, readFile(file.path, limits.maxConfigFileBytes));
  } catch (error) {
    return withoutFile(file, error);
  }
}

/** Reads and parses the file as `readConfigFile` does, without blocking this thread. */
export async function readConfigFileLater(file: ConfigFile): Promise<ConfigText> {
  try {
    return configOf(file, await readFileLater(file.path, limits.maxConfigFileBytes));
  } catch (error) {
    return withoutFile(file, error);
  }
}

/** Parses the settings in the text. @throws ConfigError */
export function parseConfig(file: ConfigFile, text: string): Pick<ConfigText, 'text' | 'document' | 'given' | 'paths'> {
  const { document, content } = parseYaml(file, text);
  const given = new Map<SettingName, Given>();
  const paths = new Map<SettingName, readonly string[]>();
  if (content === null || content === undefined) return { text, document, given, paths };
  if (!isMapping(content)) throw unusable(file, `it contains ${show(content)}`, 'a mapping of settings');
  for (const { name, raw, path } of flatten(content)) {
    // An empty group is allowed, as when all its settings are commented out.
    if (raw === null && isGroup(name)) continue;
    // The value is not shown: it may be a secret with a misspelt name.
    if (!isSettingName(name))
      throw new ConfigError(name, `unknown setting in ${file.path}; expected a setting from \`candor help settings\``);
    if (name === 'data_dir' && !file.named)
      throw new ConfigError(name, `must not be set in ${file.path}, which is in the data folder; remove it`);
    if (paths.has(name)) throw new ConfigError(name, `is set twice in ${file.path}; remove one`);
    paths.set(name, path);
    if (raw !== null) given.set(name, { raw, source: 'file', from: file.path });
  }
  return { text, document, given, paths };
}

/**
 * Yields settings by dotted name. `{network: {home: […]}}` and `{"network.home": […]}` are equivalent. Only groups of
 * settings are flattened.
 */
export function* flatten(
  mapping: Readonly<Record<string, unknown>>,
  above: readonly string[] = [],
): Generator<{ readonly name: string; readonly raw: unknown; readonly path: readonly string[] }> {
  for (const [key, raw] of Object.entries(mapping)) {
    const path = [...above, key];
    const name = path.join('.');
    if (isMapping(raw) && isGroup(name)) yield* flatten(raw, path);
    else yield { name, raw, path };
  }
}

/** Returns whether the name is that of a group of settings, such as `alerts`. */
export function isGroup(name: string): boolean {
  return groups.has(name);
}

const groups = new Set(
  settingNames.flatMap((name) => [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index))),
);

function configOf(file: ConfigFile, { bytes, stat }: FileContent): ConfigText {
  const mode = Number(stat.mode & 0o777n);
  return { ...parseConfig(file, decode(file, bytes)), identity: identityOf(stat), mode };
}

/**
 * Returns empty settings if the file is missing, which is allowed unless CANDOR_CONFIG names the file. @throws
 * ConfigError
 */
function withoutFile(file: ConfigFile, error: unknown): ConfigText {
  if (!(error instanceof UnreadableFile)) throw error;
  if (!file.named && error.code === 'ENOENT') return { ...parseConfig(file, ''), identity: undefined, mode: 0 };
  switch (error.problem) {
    case 'no_file':
      throw unusable(file, 'it is not a file', 'a regular file');
    case 'too_large':
      throw unusable(file, 'it is too large', `at most ${limits.maxConfigFileBytes} bytes`);
    case 'unreadable':
      throw unusable(file, 'it cannot be read', `a readable YAML or JSON file: ${error.code ?? 'unreadable'}`);
  }
}

/** Returns the identity of a file. A different identity means another file, or changed content. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function decode(file: ConfigFile, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unusable(file, 'it contains invalid bytes', 'UTF-8');
  }
}

/**
 * Parses YAML 1.2, of which JSON is a part. Aliases are rejected: a few lines of them expand to gigabytes, and settings
 * do not need them. Messages name the kind and place of an error, not the text, which may be a secret.
 */
function parseYaml(file: ConfigFile, text: string): { document: Document; content: unknown } {
  const lines = new LineCounter();
  let document: Document;
  let content: unknown;
  try {
    document = parseDocument(text, {
      version: '1.2',
      uniqueKeys: false,
      stringKeys: true,
      merge: false,
      prettyErrors: false,
      lineCounter: lines,
      logLevel: 'error',
    });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw broken(problem.code, problem.pos[0]);
    const repeated = repeatedKey(document);
    if (repeated !== undefined) throw broken('duplicate_key', repeated);
    if ((document.directives?.yaml.version ?? '1.2') !== '1.2') throw broken('another version of yaml', 0);
    visit(document, {
      Alias(_, { range }) {
        throw broken('alias', range?.[0] ?? 0);
      },
    });
    content = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw unusable(file, 'it cannot be parsed', 'YAML or JSON');
  }
  return { document, content };

  function broken(code: string, at: number): ConfigError {
    const { line, col } = lines.linePos(at);
    const what = code.toLowerCase().replaceAll('_', ' ');
    return unusable(file, `${what} at line ${line}, column ${col}`, 'plain YAML or JSON');
  }
}

function unusable({ path, named }: ConfigFile, came: string, wanted: string): ConfigError {
  const from = show(path);
  return named
    ? new ConfigError('CANDOR_CONFIG', `cannot use ${from}: ${came}; expected ${wanted}`)
    : new ConfigError('settings file', `${came} (${from}); expected ${wanted}`);
}
