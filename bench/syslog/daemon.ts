/** rsyslog and syslog-ng as receivers of JSON lines: configured, started and stopped. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Shipper, startShipper } from '../../scripts/log-shippers.ts';

/** The line that a daemon writes for each line that it receives. */
export interface Output {
  /** Either all fields of the line, as JSON, or `selectedFields`, separated by tabs. */
  readonly fields: 'all' | 'selected';
  /** Whether the file is flushed to disk after each batch of lines. */
  readonly flush: boolean;
}

export interface Daemon {
  readonly pid: number;
  /** URL for the plan of a load. */
  readonly url: string;
  /** The file to which the daemon appends a line for each line that it receives. */
  readonly file: string;
  /** Ends the daemon, if it still runs. */
  stop(): Promise<void>;
}

/** The fields of a connection that most searches need. */
const selectedFields = [
  ...['ts', 'uid', 'id.orig_h', 'id.orig_p', 'id.resp_h', 'id.resp_p'],
  ...['proto', 'service', 'orig_bytes', 'resp_bytes', 'conn_state'],
];

/** Lines that a daemon writes at once: the most that syslog-ng accepts, and as many for rsyslog. */
export const linesPerBatch = 1024;
/** Lines that wait in the daemon's memory; then the daemon stops reading from its connections. */
const waitingLines = 100_000;
const startTimeoutMs = 20_000;

interface Place extends Output {
  readonly port: number;
  readonly folder: string;
  readonly file: string;
}

const configurations: Readonly<Record<Shipper, (place: Place) => string>> = {
  rsyslog({ fields, flush, port, folder, file }) {
    const template =
      fields === 'all'
        ? 'property(name="$!all-json-plain")'
        : selectedFields.map((name) => `property(name="$!${name}")`).join(' constant(value="\\t") ');
    return `
global(workDirectory="${folder}")
module(load="imptcp")
module(load="mmjsonparse")
template(name="line" type="list") { ${template} constant(value="\\n") }
ruleset(name="lines" queue.type="LinkedList" queue.size="${waitingLines}" queue.dequeueBatchSize="${linesPerBatch}") {
  action(type="mmjsonparse" cookie="" useRawMsg="on")
  action(type="omfile" file="${file}" template="line" ioBufferSize="1m" sync="${flush ? 'on' : 'off'}")
}
input(type="imptcp" address="127.0.0.1" port="${port}" ruleset="lines")
`;
  },
  'syslog-ng'({ fields, flush, port, file }) {
    const template =
      fields === 'all'
        ? "$(format-json --scope none --key '.zeek.*' --rekey '.zeek.*' --shift 6 --key-delimiter ~)"
        : selectedFields.map((name) => `\${.zeek.${name}}`).join('\\t');
    return `
@version: 3.38
options { stats-freq(0); };
source s_lines { network(ip("127.0.0.1") port(${port}) transport("tcp") flags(no-parse) log-iw-size(${waitingLines})); };
parser p_json { json-parser(prefix(".zeek.") key-delimiter("~")); };
destination d_file {
  file("${file}" template("${template}\\n")
    flush-lines(${linesPerBatch}) log-fifo-size(${waitingLines}) fsync(${flush ? 'yes' : 'no'}));
};
log { source(s_lines); parser(p_json); destination(d_file); flags(flow-control); };
`;
  },
};

/**
 * Starts a daemon that listens on 127.0.0.1. Its files are in a new folder within `parent`. Rejects with its messages
 * if it does not listen.
 *
 * @param unpacked - absolute path of the folder LOG_SHIPPERS
 */
export async function startDaemon(shipper: Shipper, output: Output, unpacked: string, parent: string): Promise<Daemon> {
  const folder = join(parent, `${shipper}-${output.fields}${output.flush ? '-flush' : ''}`);
  mkdirSync(folder);
  const file = join(folder, 'lines');
  writeFileSync(file, '');
  const port = await freePort();
  writeFileSync(join(folder, 'conf'), configurations[shipper]({ ...output, port, folder, file }));
  const child = startShipper(shipper, unpacked, folder);
  const kill = () => child.kill('SIGKILL');
  // If this process fails, the daemon ends too, before a listener removes its folder.
  process.prependOnceListener('exit', kill);
  let problem: string | undefined;
  const ended = new Promise<void>((resolve) => {
    const end = (what: string) => {
      problem = what;
      process.off('exit', kill);
      resolve();
    };
    child.once('error', ({ message }) => end(message));
    child.once('exit', (code, signal) => end(`it ended with ${code ?? signal}`));
  });
  const stop = async () => {
    child.kill();
    const late = setTimeout(kill, 10_000);
    await ended;
    clearTimeout(late);
  };
  const until = performance.now() + startTimeoutMs;
  while (!(await isListening(port))) {
    if (problem === undefined && performance.now() < until) {
      await sleep(50);
      continue;
    }
    await stop();
    throw new Error(`${problem ?? 'it does not listen'}: ${readFileSync(join(folder, 'messages'), 'utf8')}`);
  }
  return { pid: child.pid!, url: `tcp://127.0.0.1:${port}`, file, stop };
}

/** Returns a port that was free a moment ago: neither daemon reports a port that the system chose. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
