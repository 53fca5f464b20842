import type { DropCounts } from '../detector.ts';
import type { Windows, WindowsState } from './windows.ts';

/** Base class of detectors whose state consists of one `Windows`. */
export abstract class WindowedDetector<V, S = V> {
  protected abstract readonly windows: Windows<V, S>;

  get dropped(): DropCounts {
    return this.windows.dropped;
  }

  state(): WindowsState<S> {
    return this.windows.state();
  }

  restore(state: WindowsState<S>): void {
    this.windows.restore(state);
  }

  merge(state: WindowsState<S>): void {
    this.windows.merge(state);
  }
}
