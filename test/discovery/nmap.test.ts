import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findNmap } from '../../src/discovery/find-nmap.ts';
import { NmapReport } from '../../src/discovery/nmap-report.ts';
import { nmapArguments } from '../../src/discovery/nmap-scan.ts';
import type { FoundHost } from '../../src/discovery/scanner.ts';
import { follow, job, scan, scanner } from './scanning.ts';
import { greeter, listen, web } from './servers.ts';

const start = '<?xml version="1.0"?>\n<!DOCTYPE nmaprun>\n<nmaprun scanner="nmap" version="7.94">\n';
const end = '<runstats><finished time="1" exit="success"/><hosts up="1" down="0" total="1"/></runstats>\n</nmaprun>\n';

/** Made-up values in the format of nmap. */
const up = `<host starttime="1" endtime="2"><status state="up" reason="syn-ack" reason_ttl="0"/>
<address addr="192.0.2.7" addrtype="ipv4"/><address addr="00:1B:63:84:45:E6" addrtype="mac" vendor="Example"/>
<hostnames><hostname name="asked.example" type="user"/><hostname name="Web.Example.org" type="PTR"/></hostnames>
<ports><extraports state="filtered" count="90"><extrareasons reason="no-response" count="90" proto="tcp" ports="1000-1089"/></extraports>
<extraports state="closed" count="4"><extrareasons reason="conn-refused" count="4" proto="tcp" ports="7,9-11"/><extrareasons reason="conn-refused" count="1" proto="tcp" ports="x"/></extraports>
<port protocol="tcp" portid="22"><state state="open" reason="syn-ack"/><service name="ssh" product="OpenSSH" version="9.6p1 Debian 3" method="probed" conf="10"><cpe>cpe:/a:openbsd:openssh:9.6p1</cpe></service></port>
<port protocol="tcp" portid="443"><state state="open" reason="syn-ack"/><service name="http" product="nginx" tunnel="ssl" method="probed" conf="10"/></port>
<port protocol="tcp" portid="8081"><state state="open" reason="syn-ack"/><service name="blackice-icecap" method="table" conf="3"/></port>
<port protocol="tcp" portid="80"><state state="closed" reason="conn-refused"/><service name="http" method="table" conf="3"/></port>
<port protocol="tcp" portid="81"><state state="filtered" reason="no-response"/></port>
<port protocol="udp" portid="53"><state state="open" reason="udp-response"/></port></ports>
<os><osmatch name="Linux 3.2" accuracy="90" line="1"/><osmatch name="Linux 5.0 - 5.14" accuracy="97" line="2"/><osmatch name="Toaster" accuracy="80" line="3"/></os>
</host>
`;
const down = '<host><status state="down" reason="no-response"/><address addr="192.0.2.8" addrtype="ipv4"/></host>\n';

function report(text: string) {
  const hosts: FoundHost[] = [];
  let done = 0;
  const read = new NmapReport({ host: (host) => hosts.push(host), hostDone: () => done++ }, () => 42);
  read.push(text);
  read.end();
  return { hosts, done, exit: read.exit };
}

describe('the report', () => {
  test('has hosts with names, products, versions and systems', () => {
    expect(report(start + up + down + end)).toEqual({
      done: 2,
      exit: { success: true, message: undefined },
      hosts: [
        {
          ...{ ip: '192.0.2.7', at: 42, hostnames: ['web.example.org'], mac: '00:1b:63:84:45:e6' },
          os: 'Linux 5.0 - 5.14',
          services: [
            { port: 22, transport: 'tcp', name: 'ssh', product: 'OpenSSH', version: '9.6p1 Debian 3' },
            { port: 443, transport: 'tcp', name: 'https', product: 'nginx' },
            { port: 8081, transport: 'tcp' },
          ],
          closed: Uint16Array.of(7, 9, 10, 11, 80),
        },
      ],
    });
  });

  test('has no control characters in texts from peers', () => {
    const evil = up
      .replace('product="OpenSSH"', 'product="&#x1b;[2J&#x202e;evil&#10;x"')
      .replace('Web.Example.org', '&lt;script&gt;');
    const [host] = report(start + evil + end).hosts;
    expect(host?.services[0]?.product).toBe('[2Jevil x');
    expect(host?.hostnames).toEqual([]);
  });

  test('omits invalid ports and addresses', () => {
    const odd = up
      .replace('portid="22"', 'portid="99999"')
      .replace('portid="443"', 'portid="x"')
      .replace('192.0.2.7', 'nowhere');
    expect(report(start + odd + end).hosts).toEqual([]);
    const [host] = report(start + odd.replace('nowhere', '::ffff:192.0.2.7') + end).hosts;
    expect(host).toMatchObject({ ip: '192.0.2.7', services: [{ port: 8081 }] });
  });
});

test('the arguments of nmap contain the ports and the rate, and no special characters', () => {
  const list = nmapArguments([22, 80, 81], 100, false);
  expect(list).toContain('22,80-81');
  expect(list.slice(list.indexOf('--max-rate'))).toEqual(expect.arrayContaining(['100']));
  expect(list).not.toContain('-O');
  expect(nmapArguments([22], 1, true)).toContain('-O');
  for (const one of list) expect(one).toMatch(/^[-a-zA-Z0-9,]+$/);
});

/** Writes a program that replaces nmap. */
function program(script: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'candor-nmap-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'nmap');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const printing = (xml: string) => `cat > "$0.in"; echo "$@" > "$0.args"; cat <<'XML'\n${xml}\nXML`;
const withNmap = (nmap: string, targets = ['127.0.0.1', '127.0.0.2']) =>
  job(targets, [22, 80], { engine: 'nmap', nmap });

describe('the nmap program', () => {
  test('receives the addresses on standard input, and its output becomes the result of the scan', async () => {
    const path = program(printing(start + up + end));
    const { hosts, counts, end: ended } = await scan(withNmap(path));
    expect(ended).toEqual({ outcome: 'completed' });
    expect(hosts).toHaveLength(1);
    expect(counts).toEqual({
      hosts_done: 2,
      probes_done: 4,
      hosts_up: 1,
      services_found: 3,
      services_skipped: 0,
      banners_skipped: 0,
    });
    expect(readFileSync(`${path}.in`, 'utf8')).toBe('127.0.0.1\n127.0.0.2\n');
    expect(readFileSync(`${path}.args`, 'utf8')).toContain('-p 22,80 --max-rate 1000');
  });

  test('runs a second time for IPv6', async () => {
    const path = program(printing(start + end));
    expect((await scan(withNmap(path, ['127.0.0.1', '::1']))).end).toEqual({ outcome: 'completed' });
    expect(readFileSync(`${path}.args`, 'utf8')).toContain('-6');
    expect(readFileSync(`${path}.in`, 'utf8')).toBe('::1\n');
  });

  test.each([
    ['fails', 'echo "no route to you" >&2; exit 1', 'no route to you'],
    ['prints no XML', 'cat >/dev/null; echo hello', 'outside of root'],
    [
      'reports a failure',
      printing(`${start}<runstats><finished exit="error" errormsg="bad luck"/></runstats></nmaprun>`),
      'bad luck',
    ],
    ['ends early', printing(start + up), 'nmap failed'],
  ])('makes the scan fail if it %s', async (_what, script, message) => {
    const { end: ended } = await scan(withNmap(program(script)));
    expect(ended).toMatchObject({ outcome: 'failed', error: expect.stringContaining(message) });
  });

  test('is killed if its output is endless', async () => {
    const path = program('echo $$ > "$0.pid"; echo "<a>"; exec yes "<b/>"');
    const { end: ended } = await scan(withNmap(path), { maxNmapOutputBytes: 100_000 });
    expect(ended).toEqual({
      outcome: 'failed',
      error: expect.stringContaining('more than 100000 bytes'),
      limit: 'maxNmapOutputBytes',
    });
    expect(() => process.kill(Number(readFileSync(`${path}.pid`, 'utf8')), 0)).toThrow(/ESRCH/);
  });

  test('makes the scan fail if it is missing', async () => {
    const { end: ended } = await scan(withNmap('/nonexistent/nmap'));
    expect(ended).toMatchObject({ outcome: 'failed', error: expect.stringContaining('ENOENT') });
  });

  test('is killed by a cancellation', async () => {
    const path = program('echo $$ > "$0.pid"; exec sleep 600');
    const opened = scanner();
    await opened.begin(withNmap(path));
    while (!existsSync(`${path}.pid`) || readFileSync(`${path}.pid`, 'utf8') === '') await delay(10);
    const pid = Number(readFileSync(`${path}.pid`, 'utf8'));
    await opened.cancel();
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
    expect((await follow(opened)).end).toEqual({ outcome: 'cancelled' });
  });
});

test('the scanner finds nmap in PATH or at the configured path, only if the file is executable', () => {
  const path = program('exit 0');
  expect(findNmap('off', join(path, '..'))).toBeUndefined();
  expect(findNmap('auto', `relative:/nonexistent:${join(path, '..')}`)).toBe(path);
  expect(findNmap('auto', '/nonexistent')).toBeUndefined();
  expect(findNmap(path, '')).toBe(path);
  chmodSync(path, 0o644);
  expect(findNmap(path, '')).toBeUndefined();
  expect(findNmap(join(path, '..'), '')).toBeUndefined();
});

const installed = findNmap('auto', process.env.PATH ?? '');

test.skipIf(installed === undefined)('the real nmap finds real servers', async () => {
  const [ssh, http] = [await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n')), await listen(web('nginx/1.24.0'))];
  const what = job(['127.0.0.1'], [ssh.port, http.port], { engine: 'nmap', nmap: installed! });
  const { hosts, end: ended } = await scan(what);
  expect(ended).toEqual({ outcome: 'completed' });
  expect(hosts[0]?.services.map(({ port }) => port)).toEqual([ssh.port, http.port].sort((a, b) => a - b));
  expect(hosts[0]?.services.find(({ port }) => port === ssh.port)).toMatchObject({
    name: 'ssh',
    product: 'OpenSSH',
  });
});
