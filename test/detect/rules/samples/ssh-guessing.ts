import { type Line, type Samples, times, zeek } from '../records.ts';

const failed = (afterS: number, to: Line = {}) => zeek('ssh', { auth_success: false, ...to }, afterS);
const signedIn = (afterS: number) => zeek('ssh', { auth_success: true }, afterS);

export default {
  'SSH login failed': {
    matches: [[failed(0)]],
    spares: [[signedIn(0)], [zeek('ssh')]],
  },
  'SSH brute force': {
    matches: [times(20, (n) => failed(n * 10))],
    spares: [
      times(19, (n) => failed(n * 10)),
      times(100, (n) => failed(n * 60)),
      times(60, (n) => failed(n, { 'id.resp_h': `10.0.0.${n % 10}` })),
    ],
  },
  'SSH password spraying': {
    matches: [times(10, (n) => failed(n * 60, { 'id.resp_h': `10.0.0.${n}` }))],
    spares: [times(50, (n) => failed(n, { 'id.resp_h': `10.0.0.${n % 9}` }))],
  },
  'SSH login': { matches: [[signedIn(0)]], spares: [[failed(0)]] },
  'Several failed SSH logins': {
    matches: [times(10, failed)],
    spares: [times(9, failed)],
  },
  'Successful SSH login after brute force': {
    matches: [[...times(10, failed), signedIn(300)]],
    spares: [
      [...times(9, failed), signedIn(300)],
      times(10, failed),
      [signedIn(0), ...times(10, (n) => failed(100 + n))],
      [...times(10, failed), signedIn(7300)],
      [...times(10, failed), zeek('ssh', { auth_success: true, 'id.orig_h': '10.20.16.6' }, 300)],
    ],
  },
} satisfies Samples;
