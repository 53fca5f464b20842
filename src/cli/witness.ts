import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { formatVerifierKey, type VerifierKey } from '../tlog/note.ts';
import { orFail } from './data-folder-options.ts';

interface Options {
  readonly state: string;
  readonly name?: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly log?: readonly string[];
  readonly logs?: string;
  readonly showKey?: true;
}

export function witnessCommand(done: (code: ExitCode) => void): Command {
  return new Command('witness')
    .description(
      'run a witness that cosigns checkpoints of logs after checking that they are append-only (C2SP tlog-witness)',
    )
    .requiredOption('--state <folder>', 'folder for key and checkpoints; one process at a time')
    .option('--name <name>', 'name of the key, such as example.org/witness; needed for a new state folder')
    .addOption(
      new Option('--listen <host:port>', 'address to listen on; port 0 picks a free port and prints it')
        .argParser(address)
        .default({ host: '127.0.0.1', port: 0 }, '127.0.0.1:0'),
    )
    .option('--log <vkey>', 'verifier key of a log to cosign; repeatable', collect)
    .option('--logs <file>', 'file with verifier keys of logs to cosign, one per line')
    .option('--show-key', 'print the verifier key of this witness, for policies, and exit')
    .addHelpText(
      'after',
      '\nThe witness serves plain HTTP, because its responses are signed.\n' +
        'Never restore an older copy of the state folder: the witness would not know its newer cosignatures,\n' +
        'and could contradict them. If the folder is lost, set up a new witness with a new key.',
    )
    .action(async (options: Options) => done(await run(options)));
}

async function run(options: Options): Promise<ExitCode> {
  // Only this command loads the server modules.
  const { WitnessState } = await import('../witness/witness-state.ts');
  if (options.showKey === true) {
    const key = await orFail(() => WitnessState.readKey(options.state, options.name));
    process.stdout.write(`${formatVerifierKey(key.public)}\n`);
    return exitCodes.ok;
  }
  const logs = await knownLogs(options);
  const state = await orFail(() => WitnessState.open(options.state, options.name));
  try {
    return await serve(options, logs, state);
  } finally {
    state.release();
  }
}

type State = Awaited<ReturnType<typeof import('../witness/witness-state.ts').WitnessState.open>>;

async function serve(options: Options, logs: readonly VerifierKey[], state: State): Promise<ExitCode> {
  const { pino } = await import('pino');
  const { Witness } = await import('../witness/witness.ts');
  const { startWitnessServer } = await import('../witness/server.ts');
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime });
  const witness = new Witness({
    state,
    logs,
    now: Date.now,
    onContradiction: (found) =>
      log.error(found, 'the log contradicts what it signed before; check the evidence with `candor verify`'),
  });
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
  const server = await orFail(() =>
    startWitnessServer({
      witness,
      ...options.listen,
      onFailure: (error) => log.error({ err: error }, 'cannot answer a request'),
    }),
  );
  const vkey = formatVerifierKey(state.key.public);
  process.stdout.write(`${vkey}\n`);
  if (state.evidence.length > 0)
    log.error({ evidence: state.evidence }, 'logs contradicted themselves in earlier runs');
  if (state.rejected.length > 0)
    log.warn(
      { rejected: state.rejected },
      'signed checkpoints were rejected in earlier runs: compare them with `candor audit --compare`',
    );
  log.info({ url: server.url, pid: process.pid, vkey, logs: logs.map(({ name }) => name) }, 'listening');
  await stopped;
  await server.close();
  log.info('stopped');
  return exitCodes.ok;
}

async function knownLogs({ log = [], logs: file }: Options): Promise<VerifierKey[]> {
  const { parseLogKey, parseLogList, UnknownLogError } = await import('../witness/known-logs.ts');
  try {
    const listed = file === undefined ? [] : parseLogList(await readFile(file, 'utf8'));
    const all = [...log.map(parseLogKey), ...listed];
    if (all.length === 0) throw new CommandError('no log given; use --log or --logs', exitCodes.usage);
    return all;
  } catch (error) {
    if (error instanceof UnknownLogError) {
      throw new CommandError(`${file === undefined ? '' : `${file}: `}${error.message}`, exitCodes.usage);
    }
    if (error instanceof CommandError) throw error;
    throw new CommandError((error as Error).message);
  }
}

function address(text: string): { host: string; port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+)):(0|[1-9][0-9]{0,4})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw new InvalidArgumentError('must be a host and a port, such as 127.0.0.1:8081 or [::1]:8081');
  }
  return { host, port: Number(port) };
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
