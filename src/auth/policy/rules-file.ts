import { constants } from 'node:fs';
import { open, realpath, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse, stringify, YAMLError } from 'yaml';
import { type AccessRule, PolicyInput } from '../../contract/resources/policy.ts';
import { validate } from '../../contract/validate.ts';
import { flushFolder, replaceFile } from '../../durable-file.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { checkRules } from './check-rules.ts';

/**
 * The rules of a file that people write, YAML or JSON: `rules:`, as in the body of updatePolicy. Undefined where there
 * is no such file.
 *
 * @param ignored - operations whose rules are passed over
 * @throws CONFLICT that says what is wrong with the file, whatever was put in its place
 */
export async function readRulesFile(
  path: string,
  ignored: ReadonlySet<string> = new Set(),
): Promise<AccessRule[] | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  try {
    const { rules } = validate(PolicyInput, parseText(text), 'file');
    return checkRules(rules.filter(({ operation }) => !ignored.has(operation)));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw error.code === 'CONFLICT' ? error : unusable(error.message, error.details?.field);
  }
}

/**
 * Prepares new rules for the file and flushes them beside it: what can fail for want of room or rights fails here.
 *
 * @returns puts them in the place of the file
 */
export async function prepareRulesFile(
  path: string,
  rules: readonly AccessRule[],
): Promise<() => Promise<void>> {
  // A link is followed: what it names is replaced, and the link stays.
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  await replaceFile(`${target}.next`, textOf(target, rules), { mode });
  return async () => {
    await rename(`${target}.next`, target);
    await flushFolder(dirname(target));
  };
}

/** A rule a line, so that a comparison of two files reads well. */
function textOf(path: string, rules: readonly AccessRule[]): string {
  if (/\.ya?ml$/i.test(path)) return stringify({ rules }, { aliasDuplicateObjects: false });
  return `{"rules":[\n${rules.map((rule) => JSON.stringify(rule)).join(',\n')}\n]}\n`;
}

/** Nothing is waited for (a pipe) and nothing without an end is read (a device). */
async function readText(path: string): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) throw unusable('it is no file');
      const buffer = new Uint8Array(limits.maxAccessPolicyBytes + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read)
        read = (await file.read(buffer, length, buffer.length - length)).bytesRead;
      bytes = buffer.subarray(0, length);
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    if (error instanceof ServiceError || code === undefined) throw error;
    throw unusable(`it cannot be read (${code})`);
  }
  if (bytes.length > limits.maxAccessPolicyBytes)
    throw unusable(`it has more than ${limits.maxAccessPolicyBytes} bytes`);
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
    return parse(text, { maxAliasCount: 0, uniqueKeys: true, prettyErrors: false, logLevel: 'error' });
  } catch (error) {
    if (error instanceof YAMLError) throw unusable(error.message.split('\n', 1)[0]!.slice(0, 200));
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

function unusable(reason: string, field?: unknown): ServiceError {
  return new ServiceError('CONFLICT', `the file of the access policy cannot be used: ${reason}`, {
    reason,
    ...(typeof field === 'string' ? { field } : {}),
  });
}
