import { InvalidArgumentError, Option } from 'commander';
import { type CheckpointPolicy, parseCheckpointKey } from '../client/checkpoint.ts';
import { AuditFault } from '../client/fault.ts';
import type { VerifierKey } from '../tlog/note.ts';

/**
 * Returns the option for the token. The token is also read from the environment, because other users can see command
 * lines.
 */
export const tokenOption = () =>
  new Option('--token <token>', 'bearer token, for requests that need a role (log entries, backups)').env(
    'CANDOR_TOKEN',
  );

/** Returns the token, if any. An empty environment variable counts as unset. */
export function credentials({ token }: { readonly token?: string }): { readonly token?: string } {
  return token === undefined || token === '' ? {} : { token };
}

export const jsonOption = () => new Option('--json', 'machine-readable output, one JSON object per line');

/** Parses a verifier key in the format of C2SP signed-note: `name+id+base64`. */
function verifierKey(text: string): VerifierKey {
  const key = parseCheckpointKey(text);
  if (key instanceof AuditFault) throw new InvalidArgumentError(key.message);
  return key;
}

/** Values parsed from `checkpointOptions`. */
export interface CheckpointFlags {
  readonly vkey?: VerifierKey;
  readonly witness?: readonly VerifierKey[];
  readonly quorum?: number;
}

export const checkpointOptions = () => [
  new Option('--vkey <vkey>', "the log's checkpoint key, from a trusted source").argParser(verifierKey),
  new Option('--witness <vkey>', 'a trusted witness; repeatable').argParser(
    (text: string, others: readonly VerifierKey[] = []) => [...others, verifierKey(text)],
  ),
  new Option('--quorum <n>', 'number of required cosignatures (default: all)').argParser(wholeNumber),
];

/** Returns the policy; undefined if the options set no requirement for checkpoints. */
export function checkpointPolicy({ vkey, witness, quorum }: CheckpointFlags): CheckpointPolicy | undefined {
  if (vkey === undefined && witness === undefined && quorum === undefined) return undefined;
  return {
    ...(vkey && { logKey: vkey }),
    ...(witness && { witnesses: witness }),
    ...(quorum !== undefined && { quorum }),
  };
}

/** Parses the URL of a service and removes trailing slashes. */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new InvalidArgumentError('must be an http(s) URL');
  return url.href.replace(/\/+$/, '');
}

export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!/^(0|[1-9][0-9]*)$/.test(text) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('must be a whole number');
  return number;
}

export function seconds(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError('must be at least one second');
  return number;
}
