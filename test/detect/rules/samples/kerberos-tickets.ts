import { eve, type Line, type Samples, times, zeek } from '../records.ts';

const ticket = (service: string, more: Line = {}, n = 0) =>
  zeek('kerberos', { request_type: 'TGS', service, cipher: 'rc4-hmac', success: true, ...more }, n);
const eveTicket = (sname: string, more: Line = {}, n = 0) =>
  eve('krb5', { krb5: { msg_type: 'KRB_TGS_REP', sname, weak_encryption: true, ...more } }, n);

export default {
  'Kerberos service ticket with RC4': {
    matches: [[ticket('MSSQLSvc/db.corp.example:1433')]],
    spares: [
      [ticket('MSSQLSvc/db', { cipher: 'aes256-cts-hmac-sha1-96' })],
      [ticket('MSSQLSvc/db', { request_type: 'AS' })],
      [ticket('MSSQLSvc/db', { success: false })],
      [ticket('krbtgt/CORP.EXAMPLE')],
      [ticket('PC101$')],
    ],
  },
  'Kerberos service ticket with RC4 (Suricata)': {
    matches: [[eveTicket('MSSQLSvc/db')]],
    spares: [
      [eveTicket('MSSQLSvc/db', { weak_encryption: false })],
      [eveTicket('MSSQLSvc/db', { msg_type: 'KRB_AS_REP' })],
      [eveTicket('krbtgt/CORP')],
      [eveTicket('PC101$')],
    ],
  },
  'Kerberoasting (RC4 TGS requests)': {
    matches: [times(5, (n) => ticket(`HTTP/s${n}`, {}, n)), times(5, (n) => eveTicket(`HTTP/s${n}`, {}, n))],
    spares: [
      times(40, (n) => ticket(`HTTP/s${n % 4}`, {}, n)),
      times(5, (n) => ticket(`HTTP/s${n}`, {}, n * 300)),
      times(20, (n) => ticket(`HTTP/s${n}`, { cipher: 'aes256-cts-hmac-sha1-96' }, n)),
    ],
  },
} satisfies Samples;
