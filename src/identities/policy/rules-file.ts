import { hash } from 'node:crypto';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { type AccessRule, PolicyInput } from '../../contract/resources/policy.ts';
import { validate } from '../../contract/validate.ts';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { flushFolder, replaceFile } from '../../files/durable-file.ts';
import { readFileLater, UnreadableFile } from '../../files/read-file.ts';
import { repeatedKey } from '../../files/unique-keys.ts';
import { writeRefusal } from '../../files/write-errors.ts';
import { limits } from '../../limits.ts';
import { checkRules } from './access-rules.ts';

/** The editable policy file as it was read. */
export interface FoundFile {
  /** SHA-256 (hex) of the bytes of the file, or of no bytes if there is no readable file. */
  readonly sha256: string;
  /**
   * Returns the rules in the file; undefined if the file does not exist.
   *
   * @param ignored - operations whose rules are ignored
   * @throws CONFLICT with the reason if the file is invalid or not a regular file
   */
  rules(ignored?: ReadonlySet<string>): AccessRule[] | undefined;
}

/**
 * Reads the editable policy file. It is YAML or JSON with the member `rules`, as in the body of updatePolicy.
 */
export async function findRulesFile(path: string): Promise<FoundFile> {
  try {
    const { bytes } = await readFileLater(path, limits.maxAccessPolicyBytes);
    return { sha256: hash('sha256', bytes), rules: (ignored) => rulesIn(bytes, ignored) };
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    const refuse = () => {
      throw unusable(error.message);
    };
    return { sha256: hash('sha256', ''), rules: error.code === 'ENOENT' ? () => undefined : refuse };
  }
}

function rulesIn(bytes: Uint8Array, ignored: ReadonlySet<string> = new Set()): AccessRule[] {
  try {
    const { rules } = validate(PolicyInput, parseText(decode(bytes)), 'file');
    return checkRules(rules.filter(({ operation }) => !ignored.has(operation)));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw error.code === 'CONFLICT' ? error : unusable(error.message, error.details?.field);
  }
}

/**
 * New rules in a file next to the file that they will replace. Exactly one of `replace` and `discard` must be
 * called.
 */
export interface PreparedRules {
  /** SHA-256 of the file that the rules will replace, see `FoundFile`. */
  readonly overwrites: string;
  /** Replaces the file with the new rules. */
  replace(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * Writes and flushes new rules next to the file that they will replace, so that missing space, missing
 * permissions or a target that is not a file are detected before the change. After an error, no file is left
 * behind.
 *
 * @throws CONFLICT if the file cannot be replaced; UNAVAILABLE if the disk is full or fails
 */
export async function prepareRulesFile(path: string, rules: readonly AccessRule[]): Promise<PreparedRules> {
  // A symbolic link is followed: the target is replaced, and the link stays.
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  if (found?.isFile() === false) throw unwritable('CONFLICT', 'it is not a regular file');
  const next = `${target}.next`;
  const discard = () => rm(next, { force: true });
  try {
    await replaceFile(next, textOf(target, rules), {
      mode: found === undefined ? 0o600 : found.mode & 0o777,
      exactMode: true,
    });
  } catch (error) {
    await Promise.allSettled([discard(), rm(`${next}.new`, { force: true })]);
    const refusal = writeRefusal(error);
    throw refusal === undefined ? error : unwritable(refusal.code, refusal.reason);
  }
  return {
    overwrites: (await findRulesFile(target)).sha256,
    async replace() {
      await rename(next, target);
      await flushFolder(dirname(target));
    },
    discard,
  };
}

/**
 * Returns the text of a policy file. JSON has one rule per line, so that files can be compared line by line.
 */
function textOf(path: string, rules: readonly AccessRule[]): string {
  if (/\.ya?ml$/i.test(path)) return stringify({ rules }, { aliasDuplicateObjects: false });
  return `{"rules":[\n${rules.map((rule) => JSON.stringify(rule)).join(',\n')}\n]}\n`;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable('it is not UTF-8');
  }
}

/**
 * Parses YAML, of which JSON is a subset. Repeated keys are rejected. Aliases are not resolved, because a few
 * of them could expand to gigabytes.
 */
function parseText(text: string): unknown {
  if (isDeep(text)) throw unusable(`it could nest deeper than ${maxDepth} levels`);
  try {
    const options = { uniqueKeys: false, stringKeys: true, prettyErrors: false, logLevel: 'error' } as const;
    const document = parseDocument(text, options);
    const [problem] = document.errors;
    if (problem !== undefined) throw unusable(problem.message.split('\n', 1)[0]!.slice(0, 200));
    if (repeatedKey(document) !== undefined) throw unusable('its keys must be unique');
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    // The parser throws these errors for an unresolved alias and for nesting that overflows its stack.
    if (error instanceof ReferenceError || error instanceof RangeError)
      throw unusable('it has aliases, or is nested too deeply');
    throw error;
  }
}

/**
 * Returns whether brackets, indentation or dashes on one line could nest deeper than rules ever do. The text
 * is checked before it is parsed, because the parser recurses without a limit: 100,000 dashes on a line crash
 * the process.
 */
function isDeep(text: string): boolean {
  let [brackets, indentation, marks, atStart] = [0, 0, 0, true];
  for (const char of text) {
    if (char === '\n' || char === '\r') [indentation, marks, atStart] = [0, 0, true];
    else if (char === '[' || char === '{') brackets++;
    else if (char === ']' || char === '}') brackets = Math.max(0, brackets - 1);
    else if (char === '-' || char === '?' || (atStart && char === ':')) marks++;
    else if (atStart && (char === ' ' || char === '\t')) indentation++;
    else atStart = false;
    if (Math.max(brackets, indentation, marks) > maxDepth) return true;
  }
  return false;
}

/** Maximum nesting of a policy file. Rules have three levels, and ids and roles contain no dashes. */
const maxDepth = 64;

function unwritable(code: ErrorCode, reason: string): ServiceError {
  return new ServiceError(code, `the access policy file cannot be written (${reason})`, { reason });
}

function unusable(reason: string, field?: unknown): ServiceError {
  return new ServiceError('CONFLICT', `the access policy file cannot be used: ${reason}`, {
    reason,
    ...(typeof field === 'string' ? { field } : {}),
  });
}
