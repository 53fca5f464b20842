import { eve, type Samples, times, zeek } from '../records.ts';

const as = { request_type: 'AS', success: false };
const failed = (n: number, client = 'anna/CORP') =>
  zeek('kerberos', { ...as, client, error_msg: 'KDC_ERR_PREAUTH_FAILED' }, n);
const eveFailed = (n: number, cname = 'anna') =>
  eve('krb5', { krb5: { msg_type: 'KRB_ERROR', error_code: 'KDC_ERR_PREAUTH_FAILED', cname } }, n);
const unknown = (n: number, client: string) =>
  zeek('kerberos', { ...as, client, error_msg: 'KDC_ERR_C_PRINCIPAL_UNKNOWN' }, n);

export default {
  'Kerberos pre-authentication failed': {
    matches: [[failed(0)]],
    spares: [[unknown(0, 'x')], [zeek('kerberos', { request_type: 'AS', success: true })]],
  },
  'Kerberos pre-authentication failed (Suricata)': {
    matches: [[eveFailed(0)]],
    spares: [[eve('krb5', { krb5: { msg_type: 'KRB_ERROR', error_code: 'KDC_ERR_PREAUTH_REQUIRED' } })]],
  },
  'Kerberos brute force': {
    matches: [times(20, (n) => failed(n)), times(20, (n) => eveFailed(n))],
    spares: [times(19, (n) => failed(n)), times(60, (n) => failed(n * 60))],
  },
  'Kerberos password spraying': {
    matches: [times(10, (n) => failed(n, `u${n}`)), times(10, (n) => eveFailed(n, `u${n}`))],
    spares: [times(19, (n) => failed(n, `u${n % 9}`))],
  },
  'Kerberos: unknown account': { matches: [[unknown(0, 'x')]], spares: [[failed(0)]] },
  'Kerberos user enumeration': {
    matches: [times(15, (n) => unknown(n, `u${n}`))],
    spares: [times(60, (n) => unknown(n, `u${n % 14}`)), times(15, (n) => failed(n, `u${n}`))],
  },
} satisfies Samples;
