import { asked, dns, type Samples } from '../records.ts';

const killSwitch = 'iuqerfsodp9ifjaposdfjhgosurijfaewrwergwea.com';

export default {
  'WannaCry kill-switch domain': {
    matches: [...asked(killSwitch), ...asked(`www.${killSwitch}`)],
    spares: [...asked(`${killSwitch}.example`), ...asked('example.com')],
  },
  'Sinkholed domain lookup': {
    matches: [
      [dns({ query: 'a.example', answers: ['sinkhole.cert.example', '198.18.0.1'], TTLs: [60, 60] })],
      [dns({ query: 'a.example', answers: ['one.sinkhole.example'], TTLs: [60] })],
    ],
    spares: [[dns({ query: 'sinkhole.example', answers: ['198.18.0.1'], TTLs: [60] })], ...asked('a.example')],
  },
  'Detection test domain': {
    matches: [...asked('detection-test.candor.invalid'), ...asked('testmynids.org')],
    spares: [...asked('candor.invalid'), ...asked('test.example')],
  },
} satisfies Samples;
