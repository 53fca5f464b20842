import { type Samples, times, zeek } from '../records.ts';

const mysql = (n: number) => zeek('mysql', { 'id.resp_p': 3306, cmd: 'login', arg: 'root', success: false }, n);
const ldap = (n: number) =>
  zeek('ldap', { 'id.resp_p': 389, opcode: 'bind simple', result: 'invalid credentials', object: 'cn=a' }, n);
const vnc = (n: number) => zeek('rfb', { 'id.resp_p': 5900, auth: false, authentication_method: 'VNC' }, n);
const rdp = (n: number) => zeek('rdp', { 'id.resp_p': 3389, cookie: 'admin' }, n);

export default {
  'MySQL login failed': {
    matches: [[mysql(0)]],
    spares: [[zeek('mysql', { cmd: 'login', success: true })], [zeek('mysql', { cmd: 'query', success: false })]],
  },
  'LDAP login failed': {
    matches: [[ldap(0)], [zeek('ldap', { opcode: ['bind simple'], result: ['invalid credentials'] })]],
    spares: [
      [zeek('ldap', { opcode: 'bind simple', result: 'success' })],
      [zeek('ldap', { opcode: 'modify', result: 'invalid attribute syntax' })],
    ],
  },
  'VNC login failed': {
    matches: [[vnc(0)]],
    spares: [[zeek('rfb', { auth: true })], [zeek('rfb')]],
  },
  'RDP connection': { matches: [[rdp(0)]], spares: [[zeek('rdp', { result: 'encrypted' })]] },
  'Database, LDAP or VNC brute force': {
    matches: [times(15, mysql), times(15, ldap), times(15, vnc)],
    spares: [times(14, mysql), times(30, (n) => [mysql, ldap, vnc][n % 3]!(n)), times(40, (n) => ldap(n * 60))],
  },
  'RDP brute force': {
    matches: [times(30, rdp)],
    spares: [times(29, rdp), times(60, (n) => rdp(n * 60))],
  },
} satisfies Samples;
