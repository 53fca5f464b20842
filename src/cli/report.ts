import type { Fault } from '../client/fault.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import type { Field, Output } from './output.ts';
import { recentEvidence, saveEvidence } from './pin-file.ts';

/** Result of one round over a log, before it is printed. */
export interface Report {
  readonly exit: ExitCode;
  readonly fault?: Fault;
  readonly lines: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
  /** Changes when there is something new to report. */
  readonly state: string;
}

export interface Kept {
  readonly path: string;
  readonly convicts: boolean;
}

/** Keeps evidence beside the pin. */
export async function keep(
  text: string | undefined,
  pinFile: string,
  now: number,
): Promise<Kept | undefined> {
  if (text === undefined) return undefined;
  const { convicts } = JSON.parse(text) as { convicts: boolean };
  const kept = convicts ? undefined : await recentEvidence(pinFile, text, now);
  return { path: kept ?? (await saveEvidence(pinFile, text, now)), convicts };
}

/** `unchanged` names what the fault did not change, for people. */
export function faultReport(fault: Fault, kept?: Kept, unchanged = 'pin'): Report {
  const about = { exit: exitCodeOf(fault), fault, state: `fault ${fault.code}` };
  if (kept === undefined) return { ...about, lines: [], fields: {} };
  const { path, convicts } = kept;
  // Each file is reported, also another one with the same code.
  const state = `${about.state} ${path}`;
  const lines = [
    `Evidence is kept in ${path}; the ${unchanged} stays as it was.`,
    convicts
      ? 'It convicts the holder of the pinned keys: candor verify shows it to anybody.'
      : "It does not prove itself: compare its roots with the operator's journal and with other auditors.",
  ];
  return { ...about, state, lines, fields: { evidence: path, convicts } };
}

export function emptyReport(line: string): Report {
  return { exit: exitCodes.ok, state: 'empty', lines: [line], fields: { status: 'empty' } };
}

export function printReport(out: Output, { exit, fault, lines, fields }: Report): ExitCode {
  const at = { at: new Date().toISOString() };
  if (fault === undefined) {
    out.result(lines, { ...fields, ...at });
    return exit;
  }
  const code = out.fault(fault, { ...fields, ...at });
  if (lines.length > 0) process.stderr.write(`${lines.join('\n')}\n`);
  return code;
}
