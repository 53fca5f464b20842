import type { SignedCheckpoint } from '../client/checkpoint.ts';
import { AuditFault } from '../client/fault.ts';
import { fingerprint, type LogKey } from '../client/key-set.ts';
import type { SignedHead } from '../client/tree-head.ts';
import { CommandError, type ExitCode, exitCodeOf } from '../service/exit-codes.ts';
import { bytesToHex } from '../tlog/hex.ts';

/** A member of `--json` output. Bigints are written as JSON integers with all digits. */
export type Field =
  | string
  | number
  | bigint
  | boolean
  | undefined
  | readonly Field[]
  | { readonly [name: string]: Field };

export interface Output {
  /** Prints the result: lines for users, or the fields as one JSON object on one line. */
  result(lines: readonly string[], fields: Readonly<Record<string, Field>>): void;
  /** Prints a fault and returns its exit code. */
  fault(fault: AuditFault, fields?: Readonly<Record<string, Field>>): ExitCode;
}

export function output(json: boolean): Output {
  function result(lines: readonly string[], fields: Readonly<Record<string, Field>>): void {
    process.stdout.write(json ? `${toJson(fields)}\n` : `${lines.map(printable).join('\n')}\n`);
  }
  return {
    result,
    fault(fault, fields = {}) {
      const about = {
        status: 'fault',
        kind: fault.kind,
        code: fault.code,
        message: fault.message,
        ...fields,
      };
      if (json) result([], about);
      else process.stderr.write(`${fault.code}: ${printable(fault.message)}\n`);
      return exitCodeOf(fault);
    },
  };
}

/** Returns the tree head as fields of `--json` output. */
export function headFields(head: SignedHead, key: LogKey): Record<string, Field> {
  return {
    tree_size: head.size,
    root_hash: bytesToHex(head.root),
    timestamp_ns: head.timestampNs,
    time: timeOf(head),
    signature: bytesToHex(head.signature),
    signer_key_id: head.signerKeyId,
    signer_fingerprint: fingerprint(key),
  };
}

/** Returns the witnesses that cosigned, as a field of `--json` output. */
export function cosignerFields({ cosigners }: Pick<SignedCheckpoint, 'cosigners'>): Field {
  return cosigners.map(({ name, timeS }) => ({ name, time_s: timeS }));
}

/** Returns the names of the witnesses that cosigned, with their times, for users; empty without cosignatures. */
export function cosignerNames({ cosigners }: Pick<SignedCheckpoint, 'cosigners'>): string {
  return cosigners.map(({ name, timeS }) => `${name} (${shownTime(timeS * 1000)})`).join(', ');
}

/** Returns the tree head as lines for users. */
export function headLines(head: SignedHead, key: LogKey): string[] {
  return [
    `size         ${head.size}`,
    `root         ${bytesToHex(head.root)}`,
    `time         ${timeOf(head)}`,
    `signed by    ${head.signerKeyId}`,
    `fingerprint  ${fingerprint(key)}`,
  ];
}

function timeOf(head: SignedHead): string {
  return shownTime(Number(head.timestampNs / 1_000_000n));
}

/**
 * Formats epoch milliseconds as ISO 8601. The signer may have chosen any value, even one outside the range of
 * Date.
 */
export function shownTime(ms: number): string {
  return ms <= 8.64e15 ? new Date(ms).toISOString() : 'out of range';
}

/**
 * Escapes a line for the terminal. Texts of a log or file are untrusted: control characters could erase
 * earlier output, and bidirectional controls could reorder it.
 */
export function printable(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Runs a command. Prints the fault that it throws (see `unwrap`), and returns the exit code of the fault. */
export async function printFault(out: Output, command: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await command();
  } catch (error) {
    if (error instanceof AuditFault) return out.fault(error);
    throw error;
  }
}

/** Returns the value, or throws a CommandError for a fault. */
export function orThrow<T>(value: T | AuditFault): T {
  if (value instanceof AuditFault)
    throw new CommandError(`${value.code}: ${printable(value.message)}`, exitCodeOf(value));
  return value;
}

function toJson(value: Field): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  const fields = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${fields.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join(',')}}`;
}
