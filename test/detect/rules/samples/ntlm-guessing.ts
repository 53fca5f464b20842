import { type Samples, times, zeek } from '../records.ts';

const failed = (n: number, username = 'anna') => zeek('ntlm', { success: false, username }, n);

export default {
  'NTLM login failed': {
    matches: [[failed(0)]],
    spares: [[zeek('ntlm', { success: true })], [zeek('ntlm', { username: 'false' })]],
  },
  'NTLM brute force': {
    matches: [times(20, (n) => failed(n))],
    spares: [
      times(19, (n) => failed(n)),
      times(60, (n) => failed(n * 60)),
      times(40, (n) => zeek('ntlm', { success: true, username: 'anna' }, n)),
    ],
  },
  'NTLM password spraying': {
    matches: [times(10, (n) => failed(n, `user${n}`))],
    spares: [times(30, (n) => failed(n, `user${n % 9}`)), times(20, (n) => failed(n * 120, `user${n}`))],
  },
} satisfies Samples;
