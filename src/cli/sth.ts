import { Command } from 'commander';
import { fetchHead } from '../client/auditor.ts';
import { AuditFault } from '../client/fault.ts';
import { EmptyLog, httpLog } from '../client/log-source.ts';
import { type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { jsonOption, serviceUrl } from './options.ts';
import { headFields, headLines, output } from './output.ts';

export function sthCommand(done: (code: ExitCode) => void): Command {
  return new Command('sth')
    .description('show the signed tree head of a log after verifying its signature')
    .argument('<url>', 'URL of the service', serviceUrl)
    .addOption(jsonOption())
    .action(async (url: string, options: { json?: true }) => done(await showHead(url, options.json ?? false)));
}

async function showHead(url: string, json: boolean): Promise<ExitCode> {
  const out = output(json);
  const signed = await fetchHead(httpLog(url));
  if (signed instanceof EmptyLog) {
    out.result(['The log is empty: no critical events yet.'], { status: 'empty' });
    return exitCodes.empty;
  }
  if (signed instanceof AuditFault) return out.fault(signed);
  out.result(headLines(signed.head, signed.key), { status: 'ok', ...headFields(signed.head, signed.key) });
  return exitCodes.ok;
}
