import type { Flow } from '../detector.ts';

/**
 * Services for administration or login, by TCP port. `asked` names the usual clients: `people` log in
 * manually or occasionally with a script; `machines` connect all day, as mail clients, domain members and
 * applications do.
 */
export const loginServices: ReadonlyMap<number, { readonly name: string; readonly asked: 'people' | 'machines' }> =
  new Map([
    [21, { name: 'FTP', asked: 'people' }],
    [22, { name: 'SSH', asked: 'people' }],
    [23, { name: 'Telnet', asked: 'people' }],
    [88, { name: 'Kerberos', asked: 'machines' }],
    [110, { name: 'POP3', asked: 'machines' }],
    [143, { name: 'IMAP', asked: 'machines' }],
    [389, { name: 'LDAP', asked: 'machines' }],
    [445, { name: 'SMB', asked: 'machines' }],
    [465, { name: 'SMTP submission', asked: 'machines' }],
    [587, { name: 'SMTP submission', asked: 'machines' }],
    [636, { name: 'LDAP', asked: 'machines' }],
    [993, { name: 'IMAP', asked: 'machines' }],
    [995, { name: 'POP3', asked: 'machines' }],
    [1433, { name: 'SQL Server', asked: 'machines' }],
    [2222, { name: 'SSH', asked: 'people' }],
    [3306, { name: 'MySQL', asked: 'machines' }],
    [3389, { name: 'RDP', asked: 'people' }],
    [5432, { name: 'PostgreSQL', asked: 'machines' }],
    [5900, { name: 'VNC', asked: 'people' }],
    [5985, { name: 'WinRM', asked: 'people' }],
    [5986, { name: 'WinRM', asked: 'people' }],
  ]);

/** Services for remote control of a host, by TCP port. */
export const adminServices: ReadonlyMap<number, string> = new Map([
  [22, 'SSH'],
  [23, 'Telnet'],
  [135, 'RPC'],
  [139, 'SMB'],
  [445, 'SMB'],
  [512, 'rexec'],
  [513, 'rlogin'],
  [514, 'rsh'],
  [2222, 'SSH'],
  [3389, 'RDP'],
  [5900, 'VNC'],
  [5901, 'VNC'],
  [5938, 'TeamViewer'],
  [5985, 'WinRM'],
  [5986, 'WinRM'],
  [7070, 'AnyDesk'],
  [10_000, 'Webmin'],
]);

/** First ephemeral port. Linux assigns ports from 32,768 to clients, other operating systems from 49,152. */
export const firstEphemeral = 32_768;

/**
 * Returns true if a connection to a port had no answer or was refused. Excludes datagrams to ephemeral ports:
 * a sensor that missed the query mistakes a late answer for a query, and traceroute uses such ports. Also
 * excludes segments of connections whose start was not seen (`traffic`, `failed`, a reset without a
 * handshake): either side may have opened them.
 */
export function isVain(flow: Readonly<Flow>): boolean {
  if (flow.answered || !(flow.port >= 0)) return false;
  if (flow.state !== 'attempt' && flow.state !== 'refused') return false;
  return flow.transport === 'tcp' || (flow.transport === 'udp' && flow.port < firstEphemeral);
}

/** Returns true for multicast and broadcast addresses, which are not scan targets. Expects canonical text. */
export function isGroup(address: string): boolean {
  if (address.startsWith('ff') && address.includes(':')) return true;
  if (address.endsWith('.255')) return true;
  return address.startsWith('2') && Number.parseInt(address, 10) >= 224 && !address.includes(':');
}
