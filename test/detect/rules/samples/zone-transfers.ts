import { asked, type Samples } from '../records.ts';

export default {
  'Transfer of a DNS zone asked for': {
    matches: [...asked('corp.example', 'AXFR')],
    spares: [...asked('corp.example', 'SOA'), ...asked('axfr.example'), ...asked('corp.example', 'NS')],
  },
} satisfies Samples;
