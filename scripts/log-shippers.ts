/** Starts the syslog daemons that scripts/with-log-shippers.sh unpacks, for tests and benchmarks. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

export const shippers = ['syslog-ng', 'rsyslog'] as const;
export type Shipper = (typeof shippers)[number];

/** Commands. `usr` holds programs, libraries and modules; `folder` the daemon's configuration and state. */
const commands: Readonly<Record<Shipper, (usr: string, folder: string) => readonly [string, ...string[]]>> = {
  'syslog-ng': (usr, folder) => [
    `${usr}/sbin/syslog-ng`,
    ...['-F', '--no-caps', '--module-path', `${usr}/lib/syslog-ng/3.38`],
    ...['-f', `${folder}/conf`, '-R', `${folder}/persist`, '-c', `${folder}/ctl`, '--pidfile', `${folder}/pid`],
  ],
  rsyslog: (usr, folder) => [
    `${usr}/sbin/rsyslogd`,
    ...['-n', '-f', `${folder}/conf`, '-i', `${folder}/pid`],
    ...['-M', `${usr}/lib/x86_64-linux-gnu/rsyslog`],
  ],
};

/**
 * Starts a daemon in the foreground, with the configuration in the file `conf` of `folder`. Its messages are in the
 * file `messages` of the same folder.
 *
 * @param unpacked - absolute path of the folder LOG_SHIPPERS
 * @param folder - absolute path of the folder in which the daemon keeps its state
 */
export function startShipper(name: Shipper, unpacked: string, folder: string): ChildProcess {
  const [program, ...rest] = commands[name](join(unpacked, 'usr'), folder);
  const messages = openSync(join(folder, 'messages'), 'a');
  try {
    return spawn(program, rest, { env: environment(unpacked), stdio: ['ignore', messages, messages] });
  } finally {
    closeSync(messages);
  }
}

/**
 * Returns the version of a daemon, such as `8.2302.0`.
 *
 * @throws Error if the program does not start
 */
export function shipperVersion(name: Shipper, unpacked: string): string {
  const [program] = commands[name](join(unpacked, 'usr'), '');
  const options = name === 'rsyslog' ? ['-v'] : ['-V', '--module-path', join(unpacked, 'usr/lib/syslog-ng/3.38')];
  const text = execFileSync(program, options, { env: environment(unpacked), encoding: 'utf8' });
  return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? 'unknown';
}

function environment(unpacked: string): NodeJS.ProcessEnv {
  const folders = ['usr/lib/syslog-ng', 'usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu'];
  return { ...process.env, LD_LIBRARY_PATH: folders.map((folder) => join(unpacked, folder)).join(':') };
}
