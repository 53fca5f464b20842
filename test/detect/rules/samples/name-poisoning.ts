import { dns, type Samples, times } from '../records.ts';

const answered = (query: string, n = 0, port = 5355) =>
  dns({ 'id.resp_h': '10.20.16.66', 'id.resp_p': port, query, answers: ['10.20.16.66'], TTLs: [30] }, n);

export default {
  'LLMNR or NetBIOS name answered': {
    matches: [[answered('fileserver')], [answered('FILESERVER', 0, 137)]],
    spares: [[answered('a.example', 0, 53)], [dns({ 'id.resp_p': 5355, query: 'fileserver' })]],
  },
  'LLMNR/NBT-NS poisoning (Responder)': {
    matches: [times(5, (n) => answered(`srv${n}`, n)), times(5, (n) => answered(`srv${n}`, n, 137))],
    spares: [
      times(40, (n) => answered(`srv${n % 4}`, n)),
      times(20, (n) => answered(`srv${n}`, n, 53)),
      times(5, (n) => answered(`srv${n}`, n * 300)),
    ],
  },
  'WPAD spoofing': {
    matches: [[answered('wpad')], [answered('WPAD', 0, 137)]],
    spares: [[answered('wpad.corp.example', 0, 53)], [dns({ 'id.resp_p': 5355, query: 'wpad' })], [answered('pc-1')]],
  },
} satisfies Samples;
