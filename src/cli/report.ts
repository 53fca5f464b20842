import type { Evidence } from '../client/evidence.ts';
import type { AuditFault } from '../client/fault.ts';
import { faultWithEvidence } from '../client/fault-evidence.ts';
import type { LogSource } from '../client/log-source.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../service/exit-codes.ts';
import type { Field, Output } from './output.ts';
import { recentEvidence, saveEvidence } from './pin-file.ts';

/** Result of one round, before it is printed. */
export interface Report {
  readonly exit: ExitCode;
  readonly fault?: AuditFault;
  readonly lines: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
  /** Key that changes when there is something new to report. */
  readonly state: string;
}

export interface SavedEvidence {
  readonly path: string;
  readonly convicts: boolean;
}

/**
 * Saves evidence next to the pin; returns undefined without evidence. Evidence that is not conclusive is not saved if
 * equal evidence was saved recently.
 */
export async function saveReportEvidence(
  text: string | undefined,
  pinFile: string,
  now: number,
): Promise<SavedEvidence | undefined> {
  if (text === undefined) return undefined;
  const { convicts } = JSON.parse(text) as { convicts: boolean };
  const saved = convicts ? undefined : await recentEvidence(pinFile, text, now);
  return { path: saved ?? (await saveEvidence(pinFile, text, now)), convicts };
}

/** Returns a report of the fault. `unchanged` names the files that the fault left unchanged, for the message. */
export function faultReport(fault: AuditFault, saved?: SavedEvidence, unchanged = 'pin'): Report {
  const about = { exit: exitCodeOf(fault), fault, state: `fault ${fault.code}` };
  if (saved === undefined) return { ...about, lines: [], fields: {} };
  const { path, convicts } = saved;
  // The state includes the path, so that another evidence file with the same code is reported too.
  const state = `${about.state} ${path}`;
  const lines = [
    `Evidence is saved in ${path}; the ${unchanged} was not changed.`,
    convicts
      ? 'It convicts the holder of the pinned keys: anyone can check it with candor verify.'
      : "It does not convict by itself: compare its roots with the operator's journal and with other auditors.",
  ];
  return { ...about, state, lines, fields: { evidence: path, convicts } };
}

/**
 * Saves evidence of a contradiction next to the pin in `file`, and returns the report.
 *
 * @param log - serves proof of when the conflicting heads existed
 * @param now - time of the finding, in epoch milliseconds
 */
export async function reportContradiction(
  fault: AuditFault,
  details: Omit<Evidence, 'code' | 'message' | 'foundAt'>,
  { file, log, now }: { readonly file: string; readonly log?: LogSource | undefined; readonly now: number },
): Promise<Report> {
  const about = { code: fault.code, message: fault.message, foundAt: new Date(now).toISOString() };
  const result = await faultWithEvidence({ ...details, ...about }, fault, log);
  return faultReport(result.fault, await saveReportEvidence(result.evidence, file, now));
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
