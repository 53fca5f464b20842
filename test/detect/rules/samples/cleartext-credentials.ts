import { conn, connected, type Samples, server, zeek } from '../records.ts';

const refused = { conn_state: 'REJ' };
const bind = { 'id.resp_p': 389, opcode: 'bind simple', result: 'success', object: 'cn=anna,dc=corp' };

export default {
  'Cleartext credentials: HTTP Basic authentication': {
    matches: [[zeek('http', { host: 'a.example', username: 'anna', password: '<removed>' })]],
    spares: [
      [zeek('http', { host: 'a.example' })],
      [zeek('http', { host: 'a.example', username: undefined })],
      [zeek('http', { host: 'a.example', uri: '/?username=anna' })],
    ],
  },
  'Cleartext credentials: FTP login': {
    matches: [[zeek('ftp', { user: 'anna', password: '<hidden>', command: 'RETR' })]],
    spares: [
      [zeek('ftp', { user: 'anonymous', password: 'mozilla@example.org', command: 'RETR' })],
      [zeek('ftp', { user: '<unknown>', password: '<hidden>', command: 'PASV' })],
      [zeek('ftp', { user: 'anna', command: 'PASV' })],
    ],
  },
  'Cleartext credentials: LDAP simple bind': {
    matches: [[zeek('ldap', bind)], [zeek('ldap', { ...bind, opcode: ['bind simple'], result: ['success'] })]],
    spares: [
      [zeek('ldap', { ...bind, object: undefined })],
      [zeek('ldap', { ...bind, object: '' })],
      [zeek('ldap', { ...bind, opcode: 'bind SASL' })],
      [zeek('ldap', { ...bind, result: 'invalid credentials' })],
    ],
  },
  'Telnet session': {
    matches: connected({ port: 23, dst: server }),
    spares: [
      [conn({ 'id.resp_p': 23, ...refused })],
      ...connected({ port: 2323 }),
      ...connected({ port: 23, src: '198.18.4.4' }),
    ],
  },
  'Remote shell without encryption (rexec, rlogin, rsh)': {
    matches: [...connected({ port: 513, dst: server }), ...connected({ port: 514, dst: server })],
    spares: [[conn({ 'id.resp_p': 513, ...refused })], ...connected({ port: 515 })],
  },
  'Mail retrieval without encryption (POP3, IMAP)': {
    matches: [...connected({ port: 110, service: 'pop3' }), ...connected({ port: 143, service: 'imap' })],
    spares: [
      ...connected({ port: 993, service: 'imap' }),
      [conn({ 'id.resp_p': 143, service: 'imap,ssl' })],
      ...connected({ port: 110 }),
    ],
  },
  'VNC without authentication': {
    matches: [[zeek('rfb', { authentication_method: 'None' })]],
    spares: [[zeek('rfb', { authentication_method: 'VNC' })], [zeek('rfb')]],
  },
} satisfies Samples;
