import { assignedNumbers } from '../../../net/assigned-numbers.ts';
import type { Flow } from '../detector.ts';

interface LoginService {
  readonly name: string;
  /**
   * The usual clients: `people` log in manually or occasionally with a script; `machines` connect all day, as mail
   * clients, domain members and applications do.
   */
  readonly asked: 'people' | 'machines';
}

/** Services for administration or login, by TCP port. */
export const loginServices: ReadonlyMap<number, LoginService> = new Map([
  ...askedBy('people', '21 FTP, 22 SSH, 23 Telnet, 2222 SSH, 3389 RDP, 5900 VNC, 5985 WinRM, 5986 WinRM'),
  ...askedBy('machines', '88 Kerberos, 389 LDAP, 445 SMB, 636 LDAP, 1433 SQL Server, 3306 MySQL, 5432 PostgreSQL'),
  ...askedBy('machines', '110 POP3, 143 IMAP, 465 SMTP submission, 587 SMTP submission, 993 IMAP, 995 POP3'),
]);

function askedBy(asked: LoginService['asked'], services: string): [port: number, service: LoginService][] {
  return assignedNumbers(services).map(([port, name]) => [port, { name, asked }]);
}

/** Services for remote control of a host, by TCP port. */
export const adminServices: ReadonlyMap<number, string> = new Map(
  assignedNumbers(`
    22 SSH, 23 Telnet, 135 RPC, 139 SMB, 445 SMB, 512 rexec, 513 rlogin, 514 rsh, 2222 SSH, 3389 RDP, 5900 VNC,
    5901 VNC, 5938 TeamViewer, 5985 WinRM, 5986 WinRM, 7070 AnyDesk, 10000 Webmin
  `),
);

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
