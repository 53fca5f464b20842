import { realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { type AccessRule, PolicyInput } from '../../contract/resources/policy.ts';
import { validate } from '../../contract/validate.ts';
import { flushFolder, replaceFile } from '../../durable-file.ts';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { readFile, UnreadableFile } from '../../read-file.ts';
import { repeatedKey } from '../../unique-keys.ts';
import { writeRefusal } from '../../write-errors.ts';
import { checkRules } from './check-rules.ts';

/**
 * The rules of a file that people write, YAML or JSON: `rules:`, as in the body of updatePolicy. Undefined where there
 * is no such file.
 *
 * @param ignored - operations whose rules are passed over
 * @throws CONFLICT that says what is wrong with the file, whatever was put in its place
 */
export function readRulesFile(
  path: string,
  ignored: ReadonlySet<string> = new Set(),
): AccessRule[] | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    const { rules } = validate(PolicyInput, parseText(text), 'file');
    return checkRules(rules.filter(({ operation }) => !ignored.has(operation)));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw error.code === 'CONFLICT' ? error : unusable(error.message, error.details?.field);
  }
}

/** New rules on disk beside the file that they are for. Either is done with them. */
export interface PreparedRules {
  /** Puts them in the place of the file. */
  replace(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * Prepares new rules for the file and flushes them beside it: what can fail for want of room or rights, or because
 * something else lies there, fails here, and leaves nothing behind.
 *
 * @throws CONFLICT where the file cannot be replaced as things are; UNAVAILABLE where the disk is full or fails
 */
export async function prepareRulesFile(path: string, rules: readonly AccessRule[]): Promise<PreparedRules> {
  // A link is followed: what it names is replaced, and the link stays.
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  if (found?.isFile() === false) throw unwritable('CONFLICT', 'it is no file');
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
    async replace() {
      await rename(next, target);
      await flushFolder(dirname(target));
    },
    discard,
  };
}

/** A rule a line, so that a comparison of two files reads well. */
function textOf(path: string, rules: readonly AccessRule[]): string {
  if (/\.ya?ml$/i.test(path)) return stringify({ rules }, { aliasDuplicateObjects: false });
  return `{"rules":[\n${rules.map((rule) => JSON.stringify(rule)).join(',\n')}\n]}\n`;
}

function readText(path: string): string | undefined {
  let bytes: Uint8Array;
  try {
    ({ bytes } = readFile(path, limits.maxAccessPolicyBytes));
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    if (error.code === 'ENOENT') return undefined;
    throw unusable(error.message);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable('it is not UTF-8');
  }
}

/** JSON is YAML. A key that comes twice is an error, and no alias is followed: a few of them could mean gigabytes. */
function parseText(text: string): unknown {
  if (isDeep(text)) throw unusable('it is nested too deeply');
  try {
    const options = { uniqueKeys: false, stringKeys: true, prettyErrors: false, logLevel: 'error' } as const;
    const document = parseDocument(text, options);
    const [problem] = document.errors;
    if (problem !== undefined) throw unusable(problem.message.split('\n', 1)[0]!.slice(0, 200));
    if (repeatedKey(document) !== undefined) throw unusable('its keys must be unique');
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    // The parser's own word for an alias that it may not follow, and for nesting that its stack has no room for.
    if (error instanceof ReferenceError || error instanceof RangeError)
      throw unusable('it has aliases, or is nested too deeply');
    throw error;
  }
}

/**
 * Whether brackets, indentation or the dashes of one line could nest further than rules ever do. Asked of the text,
 * because the parser goes down without a limit: 100,000 dashes on a line end the process.
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

/** Rules have three levels; ids and roles have no dashes. */
const maxDepth = 64;

function unwritable(code: ErrorCode, reason: string): ServiceError {
  return new ServiceError(code, `the file of the access policy cannot be written (${reason})`, { reason });
}

function unusable(reason: string, field?: unknown): ServiceError {
  return new ServiceError('CONFLICT', `the file of the access policy cannot be used: ${reason}`, {
    reason,
    ...(typeof field === 'string' ? { field } : {}),
  });
}
