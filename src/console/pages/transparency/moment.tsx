import { Time } from '../../ui/time.tsx';

/** Nanoseconds since 1970, as a head has them: to the millisecond, and all digits beside it. */
export function Moment({ ns }: { ns: bigint }) {
  return (
    <span class="moment">
      <Time at={Number(ns / 1_000_000n)} as="exact" /> <span class="quiet mono">{ns.toString()} ns</span>
    </span>
  );
}
