import { eve, type Samples, times, zeek } from '../records.ts';

const refused = (n: number) => zeek('ftp', { command: 'PASS', reply_code: 530, user: 'root' }, n);
const eveRefused = (n: number) => eve('ftp', { ftp: { command: 'PASS', completion_code: ['530'] } }, n);

export default {
  'FTP login failed': {
    matches: [[refused(0)]],
    spares: [[zeek('ftp', { command: 'PASS', reply_code: 230 })], [zeek('ftp', { reply_msg: '530' })]],
  },
  'FTP login failed (Suricata)': {
    matches: [[eveRefused(0)]],
    spares: [[eve('ftp', { ftp: { command: 'PASS', completion_code: ['230'] } })]],
  },
  'FTP brute force': {
    matches: [times(15, refused), times(15, eveRefused), times(15, (n) => (n % 2 === 0 ? refused(n) : eveRefused(n)))],
    spares: [
      times(14, refused),
      times(50, (n) => refused(n * 60)),
      times(20, (n) => zeek('ftp', { command: 'RETR', reply_code: 226 }, n)),
    ],
  },
} satisfies Samples;
