import { type Samples, times, zeek } from '../records.ts';

const failed = (n: number, username = 'anna') => zeek('ntlm', { success: false, username }, n);

export default {
  'NTLM sign-in that failed': {
    matches: [[failed(0)]],
    spares: [[zeek('ntlm', { success: true })], [zeek('ntlm', { username: 'false' })]],
  },
  'Guessing of Windows passwords over NTLM': {
    matches: [times(20, (n) => failed(n))],
    spares: [
      times(19, (n) => failed(n)),
      times(60, (n) => failed(n * 60)),
      times(40, (n) => zeek('ntlm', { success: true, username: 'anna' }, n)),
    ],
  },
  'One host tries many Windows accounts over NTLM': {
    matches: [times(10, (n) => failed(n, `user${n}`))],
    spares: [times(30, (n) => failed(n, `user${n % 9}`)), times(20, (n) => failed(n * 120, `user${n}`))],
  },
} satisfies Samples;
