/** The strategies under test: offshoot's own, and one that is added by its file and its line here. */
import { landingStrategies } from '../../src/core/landing/index.ts'
import type { LandingStrategy } from '../../src/core/landing/strategy.ts'
import { fastForward } from './fast-forward.strategy.ts'

export const allStrategies: readonly LandingStrategy[] = [...landingStrategies, fastForward]
