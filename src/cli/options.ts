import { InvalidArgumentError, Option } from 'commander';
import { type CheckpointPolicy, parseCheckpointKey } from '../client/checkpoint.ts';
import { Fault } from '../client/fault.ts';
import type { VerifierKey } from '../tlog/note.ts';

/** The token of the environment, so that it needn't stand in a command line that others can read. */
export const tokenOption = () =>
  new Option('--token <token>', 'bearer token, for what needs a role (log entries, backups)').env(
    'CANDOR_TOKEN',
  );

/** The token, if there is one: an empty variable of the environment is how many say that there is none. */
export function credentials({ token }: { readonly token?: string }): { readonly token?: string } {
  return token === undefined || token === '' ? {} : { token };
}

export const jsonOption = () => new Option('--json', 'machine-readable output, one JSON object a line');

/** A key that signs notes, as C2SP signed-note writes it: `name+id+base64`. */
function verifierKey(text: string): VerifierKey {
  const key = parseCheckpointKey(text);
  if (key instanceof Fault) throw new InvalidArgumentError(key.message);
  return key;
}

/** What `checkpointOptions` parse. */
export interface CheckpointFlags {
  readonly vkey?: VerifierKey;
  readonly witness?: readonly VerifierKey[];
  readonly quorum?: number;
}

export const checkpointOptions = () => [
  new Option('--vkey <vkey>', "the log's checkpoint key, known from elsewhere").argParser(verifierKey),
  new Option('--witness <vkey>', 'a witness whose cosignature counts; may be repeated').argParser(
    (text: string, others: readonly VerifierKey[] = []) => [...others, verifierKey(text)],
  ),
  new Option('--quorum <n>', 'how many witnesses must have cosigned (default: all)').argParser(wholeNumber),
];

/** Undefined where nothing is asked of checkpoints. */
export function checkpointPolicy({ vkey, witness, quorum }: CheckpointFlags): CheckpointPolicy | undefined {
  if (vkey === undefined && witness === undefined && quorum === undefined) return undefined;
  return {
    ...(vkey && { logKey: vkey }),
    ...(witness && { witnesses: witness }),
    ...(quorum !== undefined && { quorum }),
  };
}

/** The address of a service, without a slash at the end. */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidArgumentError('wanted an http(s) address');
  return url.href.replace(/\/+$/, '');
}

export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!/^(0|[1-9][0-9]*)$/.test(text) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('wanted a whole number');
  return number;
}

export function seconds(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError('wanted at least one second');
  return number;
}
